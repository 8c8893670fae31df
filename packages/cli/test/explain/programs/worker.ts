/** A worker that holds a lease, and has a fault: `worker.ts FOLDER RECORDINGS OWNER FAULT`. */
import { createLease } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'
import { LocalLeaseStore } from '@leasehold/local'
import { flightRecorder } from '@leasehold/recorder'
import '@leasehold/self-fence'

const [folder = '', recordings = '', owner = '', fault = ''] = process.argv.slice(2)

// It must not outlive the test.
process.stdin.on('end', () => process.exit(9)).resume()

const recorder = flightRecorder({ folder: recordings, signal: 'SIGUSR2' })
const store = new LocalLeaseStore({ folder })
const lease = createLease(store, 'report', {
  owner,
  heartbeatTimeout: 2_000,
  operationTimeout: 300,
  recorder,
  ...(fault === 'fenced' && { selfFence: 'kill' }),
})

lease.on('lost', ({ reason }) => process.stdout.write(`lost ${reason}\n`))
await lease.acquire({ wait: Number.POSITIVE_INFINITY })
process.stdout.write('acquired\n')

/** Work that never yields. */
function parse(duration: number): void {
  const end = machineTime() + duration
  while (machineTime() < end);
}

if (fault === 'busy' || fault === 'fenced') setImmediate(parse, 4_000)
if (fault === 'crash') setImmediate(() => process.exit(3))
