import { createLease, type LeaseStore } from '@leasehold/core'

// #region once
/** Every instance calls this at night. One of them writes the report of the day; the others find that it is done. */
export async function reportOnce(store: LeaseStore, day: string, write: (signal: AbortSignal) => Promise<void>) {
  const lease = createLease(store, 'nightly-report')
  return await lease.run(
    async ({ signal }) => {
      if (lease.previous?.lastDay === day) return 'done by another instance'
      await write(signal)
      await lease.update({ lastDay: day })
      return 'written'
    },
    { wait: 10 * 60_000 },
  )
}
// #endregion once
