import { createLease, type Lease, LeaseProvider } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'

/** Milliseconds. */
const TTL = 2_000

// Holds a lease of a heartbeat thread while its event loop is blocked, and prints what is left of it.
const [, , how, folder = ''] = process.argv

function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

async function getLease(): Promise<Lease> {
  if (how === 'configuration') {
    const jobs = {
      'lease-class': '@leasehold/local',
      folder,
      'heartbeat-timeout': `${TTL}ms`,
      'heartbeat-thread': 'on',
    }
    return await new LeaseProvider({ jobs }).getLease('job', 'jobs')
  }
  const store = await new HeartbeatThread().open({ leaseClass: '@leasehold/local', options: { folder } })
  const fence = how === 'fence' ? ({ selfFence: 'kill', unresponsiveAfter: 200 } as const) : {}
  return createLease(store, 'job', { heartbeatTimeout: TTL, ...fence })
}

const lease = await getLease()
const isGranted = await lease.acquire()
process.stdout.write(`granted: ${isGranted}\n`)
// The line leaves the process before the block.
await new Promise((resolve) => setImmediate(resolve))
block(how === 'fence' ? 30_000 : 2 * TTL)
process.stdout.write(`held: ${lease.checkLease()}, released: ${await lease.release()}\n`)
