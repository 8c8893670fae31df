// For the other packages of this repository, of the same version. Nothing here is a part of the API.
export { codeOf } from './encoding.js'
export { FlightRecorder, type FlightRecorderOptions, type RecorderSurroundings } from './flight-recorder.js'
export type { MachineEvent, ProcessReadings } from './machine-watch.js'
export {
  type RecordedEvent,
  type RecordedLeaseHistory,
  type Recording,
  RecordingError,
  readRecording,
} from './read-recording.js'
export type { RecordedStack, StackFrame, StackSource } from './recorded-stack.js'
export type { RecordingHeader, WriteReason } from './recording-text.js'
export { effectsOf, type Replay, replay } from './replay.js'
