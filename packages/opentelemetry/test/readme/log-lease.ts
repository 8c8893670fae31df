// #region log
import type { StoreLease } from '@leasehold/core'

/** Logs each change of a lease. No line is logged for a heartbeat that went well. */
export function logChanges(lease: StoreLease, log: (line: object) => void): void {
  const line = (event: string, more: object = {}) =>
    log({ event, lease: lease.settings.name, owner: lease.settings.owner, ...more })
  lease.on('acquired', ({ fencingToken }) => line('acquired', { fencingToken: String(fencingToken) }))
  lease.on('jeopardy', ({ cause, remaining }) => line('jeopardy', { cause: String(cause), remaining }))
  lease.on('recovered', () => line('recovered'))
  lease.on('lost', ({ reason, owner, cause }) => line('lost', { reason, by: owner, cause: String(cause) }))
  lease.on('released', () => line('released'))
}
// #endregion log
