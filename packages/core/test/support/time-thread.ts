import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '@leasehold/core'
import { SharedTime, type TimeMemory } from '../../src/time/shared-time.js'

// Answers each message with the shared time. Node may give each thread an origin of its own; this one is an hour off.
const now = systemClock.now.bind(systemClock)
Object.assign(systemClock, { now: () => now() + 3_600_000 })
const time = new SharedTime(workerData as TimeMemory, 'writer')
parentPort?.on('message', () => parentPort?.postMessage(time.now()))
parentPort?.postMessage('ready')
