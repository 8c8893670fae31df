// #region fenced
import type { LeaseStore } from '@leasehold/core'
import { LeaseCoordinator } from '@leasehold/node-cron'
import cron from 'node-cron'

/** The report stops if its lease is lost, and sends its fencing token with each write. */
export function reportFenced(
  store: LeaseStore,
  writeReport: (signal: AbortSignal | undefined, token: bigint | undefined) => Promise<void>,
  onError: (error: unknown) => void,
) {
  const coordinator = new LeaseCoordinator(store, { atMostFor: 10 * 60_000 })
  coordinator.on('error', onError)
  const work = async (): Promise<void> => {
    const run = coordinator.running('report')
    await writeReport(run?.signal, run?.fencingToken)
  }
  const options = { name: 'report', distributed: true, timezone: 'Europe/Berlin', runCoordinator: coordinator }
  return cron.schedule('0 3 * * *', work, options)
}
// #endregion fenced
