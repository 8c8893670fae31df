import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'

// Another owner holds the name, and no test advances the time: the wait never ends.
const clock = new VirtualClock()
const store = new MemoryLeaseStore({ clock })
await createLease(store, 'job', { clock, owner: 'other' }).acquire()
const lease = createLease(store, 'job', { clock })
lease.acquire({ wait: Number.POSITIVE_INFINITY }).catch(() => {})
process.stdout.write('waiting\n')
