/** Holds leases with a recorder, and does what KIND says: `blocked.ts FOLDER KIND`. Writes a recording in the end. */
import { execSync } from 'node:child_process'
import { open } from 'node:inspector'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { createLease, MemoryLeaseStore, systemClock } from '@leasehold/core'
import type { EngineRecorder } from '@leasehold/core/internal'
import { machineTime } from '@leasehold/core/store-kit'
import { flightRecorder } from '@leasehold/recorder'
import { WORD, wordsOf } from '../../src/last-words.js'

const [folder = '', kind = ''] = process.argv.slice(2)

// It must not outlive the test.
if (isMainThread) process.stdin.on('end', () => process.exit(9)).resume()
parentPort?.on('message', () => {})

/** The state in which the thread leaves the memory. */
const ENDED = 3

if (kind === 'ending') {
  process.on('worker', (worker) => worker.once('online', () => process.stdout.write('started\n')))
}

const recorder = flightRecorder({ folder, stack: kind !== 'off' })
const store = new MemoryLeaseStore()

const words = wordsOf((recorder as EngineRecorder).lastWords ?? new SharedArrayBuffer(100))

/** Whether a stack was written down, or `limit` has passed. On a busy machine it takes long. */
function isFound(limit: number): boolean {
  return words[WORD.stackLength] !== 0 || machineTime() > limit
}

/** Work that never yields, until its stack is known. The clock is read so seldom that the stack is not that of the clock. */
function parse(duration = 20_000): number {
  const end = machineTime() + duration
  let sum = 0
  while (!isFound(end)) for (let count = 0; count < 20_000_000; count += 1) sum += count % 7
  return sum
}

function nested(depth: number): number {
  return depth === 0 ? parse() : nested(depth - 1) + 1
}

function waitForOther(): void {
  const end = machineTime() + 20_000
  while (!isFound(end)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
}

function pause(duration: number): Promise<void> {
  return new Promise((resolve) => void systemClock.schedule(duration, resolve))
}

/** As that of an error tracker: it pauses the main thread for some time, and then resumes it. */
const OTHER_DEBUGGER = `
  const { Session } = require('node:inspector')
  const session = new Session()
  setInterval(() => {}, 1_000)
  session.connectToMainThread()
  session.on('Debugger.paused', () => {
    const from = process.hrtime.bigint()
    setTimeout(() => session.post('Debugger.resume'), 5_000)
    session.once('Debugger.resumed', () => {
      require('node:fs').writeSync(1, 'paused for ' + Math.round(Number(process.hrtime.bigint() - from) / 1e9) + ' s\\n')
      session.disconnect()
    })
  })
  session.post('Debugger.enable', () => session.post('Debugger.pause'))`

const work: Readonly<Record<string, () => unknown>> = {
  busy: () => parse(),
  off: () => parse(2_500),
  thread: () => parse(2_500),
  deep: () => nested(5_000),
  twice: async () => {
    parse()
    await pause(600)
    parse()
  },
  'exec-sync': () => execSync('sleep 6'),
  'atomics-wait': waitForOther,
  'exec-sync-then-idle': async () => {
    execSync('sleep 0.9')
    await pause(100)
  },
  debugger: async () => {
    open(0)
    await pause(600)
    parse()
  },
  'other-debugger': () => {
    const paused = machineTime()
    new Worker(OTHER_DEBUGGER, { eval: true, execArgv: [], env: {} }).unref()
    // Until it has paused this thread, and resumed it.
    while (machineTime() - paused < 8_000);
  },
  ending: async () => {
    for (const one of leases) await one.release()
    while (words[WORD.state] !== ENDED) await pause(100)
    await pause(500)
    process.stdout.write('ended\n')
    await lease('again').acquire()
    await pause(1_000)
    parse()
  },
  short: async () => {
    for (let count = 0; count < 10; count += 1) {
      parse(200)
      await pause(100)
    }
  },
  healthy: () => pause(4_000),
  stopped: () => pause(5_000),
  exit: () => {
    parse()
    process.exit(3)
  },
  exits: () => {},
  released: async () => {
    for (const lease of leases) await lease.release()
    parse(1_500)
    await lease('again').acquire()
    await pause(300)
  },
}

function lease(name: string) {
  return createLease(store, name, { heartbeatTimeout: 60_000, recorder })
}

const leases = Array.from({ length: kind === 'healthy' ? 1_000 : 1 }, (_, number) => lease(`job-${number}`))
if (kind === 'thread' && isMainThread) {
  new Worker(new URL(import.meta.url), { argv: [folder, 'thread'] }).once('exit', () => process.stdin.pause())
} else {
  for (const one of leases) await one.acquire()
  // Time for the thread to start.
  await pause(kind === 'exits' ? 0 : 1_000)
  process.stdout.write('ready\n')
  await work[kind]?.()
  await pause(kind === 'exits' ? 0 : 300)
  recorder.write()
  process.stdout.write('done\n')
  // The process ends by itself: neither held leases nor the thread keep it alive.
  if (isMainThread) process.stdin.pause()
  parentPort?.close()
}
