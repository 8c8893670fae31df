import type { TimeoutOptions } from './timeout-settings.js'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * Durations for common uses of leases, to spread into the options of `createLease` or `TimeoutSettings`:
 * `createLease(store, 'import', { ...durations.job })`. Each is valid on its own; give other durations beside it to change
 * single ones. A store whose limits exclude the ttl throws a `LeaseConfigurationError` that says which ttls it accepts.
 *
 * All ttls are at most an hour, because most stores accept no longer ones.
 */
export const durations = Object.freeze({
  /**
   * A ttl of 15 s (5 to 15 s are usual), renewed at 30 %: a dead leader is replaced soon, and a live one has 10 s for
   * repetitions. 15 s is the lease duration of client-go's leader election, and the shortest that Azure accepts.
   */
  leaderElection: Object.freeze({ heartbeatTimeout: 15 * SECOND, strategy: Object.freeze({ renewAt: 0.3 }) }),
  /**
   * A ttl of 20 s (10 to 30 s are usual), renewed at half of it: the others wait that long for a dead holder, and a holder
   * survives a store that fails for nearly 10 s.
   */
  distributedLock: Object.freeze({ heartbeatTimeout: 20 * SECOND, strategy: Object.freeze({ renewAt: 0.5 }) }),
  /**
   * A ttl of 10 min (1 to 60 min are usual), renewed at 80 %: little traffic for work that is seldom taken over, and nearly
   * 2 min for repetitions.
   */
  job: Object.freeze({ heartbeatTimeout: 10 * MINUTE, strategy: Object.freeze({ renewAt: 0.8 }) }),
  /** A ttl of 20 min (5 to 30 min are usual): the session ends 20 min after the last activity that called `renew()`. */
  session: Object.freeze({ heartbeatTimeout: 20 * MINUTE, strategy: 'manual' }),
  /** A ttl of 1 h (1 to 24 h are usual), renewed by hand: each `renew()` extends the reservation by an hour from then. */
  reservation: Object.freeze({ heartbeatTimeout: HOUR, strategy: 'manual' }),
  /** A ttl of 5 min (1 to 60 min are usual), never renewed: the entry may be stale for as long. */
  cacheEntry: Object.freeze({ heartbeatTimeout: 5 * MINUTE, strategy: 'manual' }),
} satisfies Readonly<Record<string, TimeoutOptions>>)
