import { createLease, type HealthSubject, type Held, healthOf, type LeaseStore } from '@leasehold/core'
import { LeaderElection, Schedule } from '@leasehold/recipes'

const times = { heartbeatTimeout: 3_000, heartbeatInterval: 500, operationTimeout: 500 }

/** What a server of this example starts and stops. */
export type Parts = ReturnType<typeof createParts>

// #region parts
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
// #endregion parts

// #region health
/** For a health route: the status, and why. It asks no store, and a follower is as healthy as a leader. */
export function healthReport(parts: Readonly<Record<string, HealthSubject>>) {
  const healths = Object.entries(parts).map(([name, part]) => [name, healthOf(part)] as const)
  const isHealthy = healths.every(([, { healthy }]) => healthy)
  return { status: isHealthy ? (200 as const) : (503 as const), body: Object.fromEntries(healths) }
}
// #endregion health
