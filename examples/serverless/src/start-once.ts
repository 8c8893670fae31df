// #region start-once
import type { LeaseStore } from '@leasehold/core'
import { Once } from '@leasehold/recipes'

/** Call this in `register()` of `instrumentation.ts`. One call of each deployment does the work, and the other calls wait for it. */
export async function startOnce(store: LeaseStore, deployment: string, start: (signal: AbortSignal) => Promise<void>) {
  const once = new Once(store, { name: 'start', heartbeatTimeout: 15_000 })
  await once.run(deployment, ({ signal }) => start(signal), { wait: 60_000 })
}
// #endregion start-once
