// #region channels
import { subscribe } from 'node:diagnostics_channel'
import type { LeaseChannels } from '@leasehold/core/channels'

/** Logs each loss, and each heartbeat that was confirmed with less than a third of the validity left. */
export function logTroubles(log: (line: string) => void): void {
  subscribe('leasehold:lost', (message) => {
    const { leaseName, reason } = message as LeaseChannels['leasehold:lost']
    log(`${leaseName} was lost: ${reason}`)
  })
  subscribe('leasehold:renewed', (message) => {
    const { leaseName, margin } = message as LeaseChannels['leasehold:renewed']
    if (margin < 1 / 3) log(`${leaseName} was almost lost: ${Math.round(margin * 100)}% of its validity was left`)
  })
}
// #endregion channels
