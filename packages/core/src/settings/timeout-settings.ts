import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { checkFault, faultOfInterval } from '../errors/option-faults.js'
import { faultOfNames, type OptionNames } from '../errors/option-names.js'
import { reasonOf, shownValue } from '../errors/shown-value.js'
import { readGuarded } from '../user-code/guarded-calls.js'
import { adaptiveStrategy } from './adaptive-strategy.js'
import { akkaTimes, fittingTimes } from './default-timeouts.js'
import { eagerStrategy, lazyStrategy } from './fraction-strategy.js'
import { intervalStrategy } from './interval-strategy.js'
import { checkObjective, type LeaseObjective, startingTimes } from './lease-objective.js'
import { manualStrategy } from './manual-strategy.js'
import { type RenewAt, renewAtStrategy, renewAtTimes } from './renew-at-strategy.js'
import type { RenewalStrategy, RenewalTimes } from './renewal-strategy.js'

export interface TimeoutOptions {
  /**
   * How often a grant is renewed, in milliseconds. Default: max(heartbeatTimeout / 10, 5 s), or less if that does not fit.
   * `Infinity` turns heartbeats off, for a lease that does not expire: the holder then does not notice that it was broken.
   */
  readonly heartbeatInterval?: number | undefined
  /**
   * The ttl of a grant, in milliseconds; `Infinity` where the store allows it. Default: 120 s, or more if the other
   * durations need it.
   */
  readonly heartbeatTimeout?: number | undefined
  /** The time limit of each call to the store, in milliseconds. Default: 5 s, or less if that does not fit. */
  readonly operationTimeout?: number | undefined
  /**
   * When heartbeats are sent: `interval` unless given. `{ renewAt: 0.3 }` sends them when 30 % of the ttl has passed.
   * `manual` sends none: call `renew()`.
   */
  readonly strategy?: 'interval' | 'eager' | 'lazy' | 'adaptive' | 'manual' | RenewAt | RenewalStrategy | undefined
  /**
   * How fast a failover must be, and how many false losses a year are allowed. Leasehold chooses the durations by the round
   * trips, failures and pauses that the process sees. Not together with the other options.
   */
  readonly objective?: LeaseObjective | undefined
}

/** In milliseconds. The margin and the drift would leave hardly any validity of a shorter ttl. */
const LEAST_HEARTBEAT_TIMEOUT = 100

const optionNames: OptionNames<TimeoutOptions> = {
  heartbeatTimeout: true,
  heartbeatInterval: true,
  operationTimeout: true,
  strategy: true,
  objective: true,
}

/** The strategies that have a name. One that learns nothing is shared by all leases. */
const strategies: Readonly<
  Record<Extract<TimeoutOptions['strategy'], string>, RenewalStrategy | (() => RenewalStrategy)>
> = {
  interval: intervalStrategy(),
  eager: eagerStrategy(),
  lazy: lazyStrategy(),
  adaptive: adaptiveStrategy,
  manual: manualStrategy(),
}

/**
 * The durations of a lease, in milliseconds. The defaults are Akka's (12 s, 120 s, 5 s) if they suit the durations that
 * were given; otherwise, the missing ones are derived from these. Validated when built: throws a
 * `LeaseConfigurationError` that says which number to change.
 */
export class TimeoutSettings implements RenewalTimes {
  readonly heartbeatInterval: number
  readonly heartbeatTimeout: number
  readonly operationTimeout: number
  readonly strategy: RenewalStrategy
  /** Absent unless given. The durations are then those to start with; the ones in use are in `lease.advice`. */
  declare readonly objective?: LeaseObjective

  constructor(options: TimeoutOptions = {}) {
    checkGiven(options)
    this.strategy = strategyOf(options.strategy ?? 'interval')
    const { objective } = options
    if (objective !== undefined) {
      checkObjective(objective, options)
      this.objective = Object.freeze({ ...objective })
    }
    const times = objective === undefined ? timesFor(this.strategy, options) : startingTimes(objective)
    this.heartbeatTimeout = times.heartbeatTimeout
    this.heartbeatInterval = times.heartbeatInterval
    this.operationTimeout = times.operationTimeout
  }
}

function timesFor(strategy: RenewalStrategy, given: TimeoutOptions): RenewalTimes {
  const usual = akkaTimes(given)
  const isPoint = isRenewAt(given.strategy)
  if (!isPoint && faultOf(strategy, usual) === undefined) return usual
  const times = isPoint ? renewAtTimes(given.strategy.renewAt, given) : fittingTimes(given)
  const fault = faultOf(strategy, times)
  if (fault !== undefined) throw new LeaseConfigurationError(fault)
  return times
}

function checkGiven(options: TimeoutOptions): void {
  const { heartbeatInterval, heartbeatTimeout, operationTimeout } = options
  // The options of a lease, which include these, may be passed as they are.
  const fault = faultOfNames('TimeoutSettings', options, Object.keys(optionNames), true)
  if (fault !== undefined) throw new LeaseConfigurationError(fault)
  const isEndless = heartbeatTimeout === Number.POSITIVE_INFINITY
  if (heartbeatInterval === Number.POSITIVE_INFINITY && !isEndless) {
    throw new LeaseConfigurationError(
      'heartbeatInterval may be Infinity only with heartbeatTimeout = Infinity: a lease that expires needs heartbeats',
    )
  }
  if (heartbeatInterval !== Number.POSITIVE_INFINITY)
    checkFault(faultOfInterval('heartbeatInterval', heartbeatInterval))
  checkFault(faultOfInterval('operationTimeout', operationTimeout))
  if (heartbeatTimeout === undefined || isEndless) return
  checkFault(faultOfInterval('heartbeatTimeout', heartbeatTimeout))
  if (heartbeatTimeout < LEAST_HEARTBEAT_TIMEOUT) {
    throw new LeaseConfigurationError(
      `heartbeatTimeout must be at least ${LEAST_HEARTBEAT_TIMEOUT} ms, not ${heartbeatTimeout}`,
    )
  }
}

function isRenewAt(strategy: TimeoutOptions['strategy']): strategy is RenewAt {
  return typeof strategy === 'object' && strategy !== null && 'renewAt' in strategy
}

function strategyOf(strategy: NonNullable<TimeoutOptions['strategy']>): RenewalStrategy {
  if (isRenewAt(strategy)) return renewAtStrategy(strategy)
  if (typeof strategy === 'string' && Object.hasOwn(strategies, strategy)) {
    const named = strategies[strategy]
    return typeof named === 'function' ? named() : named
  }
  const { check, plan } = Object(strategy) as Partial<RenewalStrategy>
  if (typeof strategy === 'object' && typeof check === 'function' && typeof plan === 'function') return strategy
  const given = typeof strategy === 'object' ? 'an object without check() and plan()' : shownValue(strategy)
  throw new LeaseConfigurationError(
    `strategy must be one of ${Object.keys(strategies).join(', ')}, { renewAt }, or a RenewalStrategy, not ${given}`,
  )
}

/** The reason why the times do not suit the strategy; `undefined` if they do. The strategy may be the user's. */
function faultOf(strategy: RenewalStrategy, times: RenewalTimes): string | undefined {
  let cause: unknown
  const fault = readGuarded(
    () => strategy.check(times),
    (error) => {
      cause = error
    },
  )
  if (cause !== undefined) throw new LeaseConfigurationError(`strategy.check() failed: ${reasonOf(cause)}`, { cause })
  if (fault === undefined || typeof fault === 'string') return fault
  return `strategy.check() must return a sentence, or undefined, not ${shownValue(fault)}`
}
