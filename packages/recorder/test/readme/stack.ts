import { flightRecorder } from '@leasehold/recorder'

export const recorder = flightRecorder({ folder: 'recordings', stack: true })
