import { type Clock, type StoreLease, systemClock } from '@leasehold/core'

/** What a liveness probe is answered. */
export interface LeaseHealth {
  readonly healthy: boolean
  /** Why not. */
  readonly reason?: string
}

export interface LeaseHealthOptions {
  /** By how much a heartbeat may be overdue beyond the duration of the lease, in milliseconds; 0 unless given. */
  readonly tolerance?: number
  /** That of the lease; the machine's unless given. */
  readonly clock?: Clock
}

/**
 * For liveness probes, as client-go's `HealthzAdaptor`: unhealthy is a process that holds the lease, as far as it knows,
 * but has not had a heartbeat confirmed for longer than the lease lasts and `tolerance`. That is a process that hangs; one
 * that does not hold the lease, or was told that it is lost, is healthy. Make it before the lease is acquired.
 */
export function leaseHealth(
  lease: StoreLease,
  { tolerance = 0, clock = systemClock }: LeaseHealthOptions = {},
): () => LeaseHealth {
  const longest = lease.settings.timeouts.heartbeatTimeout + tolerance
  let confirmedAt = clock.now()
  const confirm = (): void => {
    confirmedAt = clock.now()
  }
  lease.on('acquired', confirm).on('renewed', confirm)
  return () => {
    const holds = lease.state === 'held' || lease.state === 'jeopardy'
    const silent = clock.now() - confirmedAt
    if (!holds || silent <= longest) return { healthy: true }
    const seconds = Math.round(silent / 1_000)
    return {
      healthy: false,
      reason: `lease '${lease.settings.name}' is held, but was not renewed for ${seconds} s: this process hangs`,
    }
  }
}
