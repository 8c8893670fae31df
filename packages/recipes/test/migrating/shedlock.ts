// #region invoices
import type { LeaseStore } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

/** Every instance calls this. Every quarter of an hour, one of them sends the invoices. */
export function sendInvoices(store: LeaseStore, send: (fencingToken: bigint, signal: AbortSignal) => Promise<void>) {
  const schedule = new Schedule(store, {
    name: 'invoices',
    cron: '0 */15 * * * *',
    atMostFor: 14 * 60_000,
    atLeastFor: 5 * 60_000,
    work: ({ fencingToken, signal }) => send(fencingToken, signal),
  })
  schedule.start()
  return schedule
}
// #endregion invoices
