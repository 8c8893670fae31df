// #region report
import { createLease, type LeaseStore } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

/** Every instance calls this. Each run exports the orders since the one before, whichever instance did that. */
export function exportOrders(
  store: LeaseStore,
  every: number,
  exportSince: (from: string, signal: AbortSignal) => Promise<string>,
) {
  const report = createLease(store, 'order-export/report')
  const schedule = new Schedule(store, {
    name: 'order-export',
    every,
    // The record of this second lease keeps the report. It is free, because only one instance runs a tick.
    work: ({ signal }) =>
      report.run(
        async () => {
          const from = report.previous?.until ?? 'the beginning'
          const until = await exportSince(from, signal)
          await report.update({ until })
        },
        { wait: 10_000, signal },
      ),
  })
  schedule.start()
  return schedule
}
// #endregion report
