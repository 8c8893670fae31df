// #region parts
import { createLease, type Held, type LeaseStore } from '@leasehold/core'
import { LeaderElection, Schedule } from '@leasehold/recipes'

const times = { heartbeatTimeout: 3_000, heartbeatInterval: 500, operationTimeout: 500 }

/** The leases of one instance. Nothing is sent to the store before `start`, so that it may be down now. */
export function createParts(store: LeaseStore, owner: string, sweep: (due: Date) => Promise<void>) {
  const schedule = new Schedule(store, { name: 'sweep', every: 1_000, owner, ...times, work: ({ due }) => sweep(due) })
  const election = new LeaderElection(store, { name: 'writer', owner, ...times })
  return {
    store,
    schedule,
    election,
    start() {
      schedule.start()
      election.start()
    },
    /** Does the work while no other request, of any instance, has the account. */
    withAccount<T>(id: string, work: (held: Held) => Promise<T>): Promise<T> {
      return createLease(store, `account/${id}`, { owner, ...times }).run(work, { wait: 10_000 })
    },
  }
}

export type Parts = ReturnType<typeof createParts>
// #endregion parts
