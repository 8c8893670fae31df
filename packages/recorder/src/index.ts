export { type FlightRecorderOptions, flightRecorder } from './flight-recorder.js'
