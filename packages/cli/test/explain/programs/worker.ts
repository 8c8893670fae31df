/** A worker that holds a lease, and has a fault: `worker.ts FOLDER RECORDINGS OWNER FAULT`. */
import { execSync } from 'node:child_process'
import { createLease, systemClock } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'
import { LocalLeaseStore } from '@leasehold/local'
import { flightRecorder } from '@leasehold/recorder'
import '@leasehold/self-fence'

const [folder = '', recordings = '', owner = '', fault = ''] = process.argv.slice(2)

// It must not outlive the test.
process.stdin.on('end', () => process.exit(9)).resume()

const recorder = flightRecorder({ folder: recordings, signal: 'SIGUSR2', stack: true })
const store = new LocalLeaseStore({ folder })
const lease = createLease(store, 'report', {
  owner,
  heartbeatTimeout: fault === 'fenced' ? 8_000 : 2_000,
  operationTimeout: 300,
  recorder,
  ...(fault === 'fenced' && { selfFence: 'kill' }),
})

lease.on('lost', ({ reason }) => process.stdout.write(`lost ${reason}\n`))
await lease.acquire({ wait: Number.POSITIVE_INFINITY })
process.stdout.write('acquired\n')

/** Work that never yields. The clock is read so seldom that the stack is not that of the clock. */
function parse(duration: number): number {
  const end = machineTime() + duration
  let sum = 0
  while (machineTime() < end) for (let count = 0; count < 20_000_000; count += 1) sum += count % 7
  return sum
}

function convert(duration: number): void {
  execSync(`sleep ${duration / 1_000}`)
}

const work: Readonly<Record<string, () => void>> = {
  busy: () => parse(6_000),
  fenced: () => parse(30_000),
  waiting: () => convert(6_000),
  crash: () => process.exit(3),
}
// Time for the threads to start.
systemClock.schedule(1_000, () => work[fault]?.())
