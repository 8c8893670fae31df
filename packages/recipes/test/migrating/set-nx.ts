// #region cron
import type { LeaseStore } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

/** Every instance calls this. At each tick, one of them sends the digest. */
export function sendDigests(store: LeaseStore, send: (due: Date, signal: AbortSignal) => Promise<void>) {
  const schedule = new Schedule(store, {
    name: 'digest',
    cron: '0 8 * * *',
    timeZone: 'Europe/Berlin',
    work: ({ due, signal }) => send(due, signal),
  })
  schedule.start()
  return schedule
}
// #endregion cron
