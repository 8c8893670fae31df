import { parentPort, workerData } from 'node:worker_threads'
import { SharedTime, type TimeMemory } from '../../../src/thread/shared-time.js'

// Answers each message with the shared time.
const time = new SharedTime(workerData as TimeMemory, 'writer')
parentPort?.on('message', () => parentPort?.postMessage(time.now()))
parentPort?.postMessage('ready')
