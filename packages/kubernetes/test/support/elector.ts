/** A process of the tests that contends for a lease until SIGTERM, and says when it leads: its argument is an `ElectorTask`. */
import { createLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { machineTime } from '@leasehold/core/store-kit'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import type { ElectorTask } from './election.js'
import type { Told } from './elector-process.js'

const { serviceAccountFolder, layout, name, owner, times }: ElectorTask = JSON.parse(process.argv[2] ?? '')

function tell(told: Told): void {
  process.stdout.write(`${JSON.stringify(told)}\n`)
}

// It must not outlive its parent, and no timer keeps it alive.
process.stdin.on('end', () => process.exit()).resume()

const store = new KubernetesLeaseStore({ serviceAccountFolder, layout })
const lease = createLease(store, name, { ...times, owner })
/** When the validity ends, from which on `checkLease` is false. */
let validUntil = 0
let leads = false
let isEnding = false

function stopped(): void {
  if (leads) tell({ event: 'stopped', at: Math.min(machineTime(), validUntil) })
  leads = false
}

lease.on('renewed', () => {
  validUntil = machineTime() + lease.remaining
})
lease.on('lost', stopped)

process.once('SIGTERM', async () => {
  isEnding = true
  stopped()
  await lease.release()
  await store.close()
  process.exit()
})

// The client is loaded, and connected, by the first call.
await store.read(name, new AbortableCall())
tell({ event: 'waiting', at: machineTime() })
while (!isEnding) {
  const lost = new Promise((resolve) => lease.once('lost', resolve))
  await lease.acquire({ wait: Number.POSITIVE_INFINITY })
  if (isEnding) break
  validUntil = machineTime() + lease.remaining
  // The process may have stood still since the grant.
  leads = lease.checkLease()
  if (leads) tell({ event: 'started', at: machineTime(), token: String(lease.fencingToken) })
  await lost
}
