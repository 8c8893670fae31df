// #region channels
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LeaseChannels } from '@leasehold/core/channels'

/** Logs each loss, and each heartbeat that was confirmed with less than a third of the validity left. Returns how to end that. */
export function logTroubles(log: (line: string) => void): () => void {
  const onLost = (message: unknown): void => {
    const { leaseName, reason } = message as LeaseChannels['leasehold:lost']
    log(`${leaseName} was lost: ${reason}`)
  }
  const onRenewed = (message: unknown): void => {
    const { leaseName, margin } = message as LeaseChannels['leasehold:renewed']
    if (margin < 1 / 3) log(`${leaseName} was almost lost: ${Math.round(margin * 100)}% of its validity was left`)
  }
  subscribe('leasehold:lost', onLost)
  subscribe('leasehold:renewed', onRenewed)
  return () => {
    unsubscribe('leasehold:lost', onLost)
    unsubscribe('leasehold:renewed', onRenewed)
  }
}
// #endregion channels
