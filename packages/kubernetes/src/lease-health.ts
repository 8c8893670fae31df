import { type Clock, type StoreLease, systemClock } from '@leasehold/core'
import { checkOptionNames } from '@leasehold/core/store-kit'

/** The answer to a liveness probe. */
export interface LeaseHealth {
  readonly healthy: boolean
  /** The reason, if unhealthy. */
  readonly reason?: string
}

export interface LeaseHealthOptions {
  /** How much longer than the ttl a heartbeat may be overdue, in milliseconds; 0 unless given. */
  readonly tolerance?: number
  /** The clock of the lease; the machine's unless given. */
  readonly clock?: Clock
}

/**
 * A check for liveness probes, like client-go's `HealthzAdaptor`. A process is unhealthy if it believes that it holds the
 * lease, but no heartbeat was confirmed for the ttl plus `tolerance`: then it hangs. A process without the lease is healthy.
 * Create the check before the lease is acquired. Throws a `LeaseConfigurationError` for an unknown option.
 */
export function leaseHealth(lease: StoreLease, options: LeaseHealthOptions = {}): () => LeaseHealth {
  checkOptionNames<LeaseHealthOptions>('leaseHealth', options, { tolerance: true, clock: true })
  const { tolerance = 0, clock = systemClock } = options
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
