// #region once
import type { LeaseStore } from '@leasehold/core'
import { Once } from '@leasehold/recipes'

/** Every instance calls this at night. One of them writes the report of the day, and all get the name of its file. */
export async function reportOnce(store: LeaseStore, day: string, write: (signal: AbortSignal) => Promise<string>) {
  const once = new Once(store, { name: 'nightly-report' })
  return await once.run(day, ({ signal }) => write(signal), { wait: 10 * 60_000 })
}
// #endregion once
