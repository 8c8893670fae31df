// #region faults
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'

export async function survivesALostAnswer(): Promise<boolean> {
  const clock = new VirtualClock()
  const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock })
  const lease = createLease(store, 'job', { clock })
  await lease.acquire()
  store.inject({ kind: 'fail-after' }, 'renew') // the store renews, and the answer never comes
  store.inject({ kind: 'hang' }, 'renew') // the next attempt gets no answer at all
  await clock.advance(60_000)
  return lease.checkLease()
}
// #endregion faults
