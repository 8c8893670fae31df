// #region repeatable
import type { LeaseStore } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

/** Every instance calls this. Once a minute, one of them fetches the rates. */
export function fetchRates(store: LeaseStore, fetchAll: (signal: AbortSignal) => Promise<void>) {
  const schedule = new Schedule(store, {
    name: 'rates',
    every: 60_000,
    atMostFor: 50_000,
    work: ({ signal }) => fetchAll(signal),
  })
  schedule.start()
  return schedule
}
// #endregion repeatable
