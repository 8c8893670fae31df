import { LeaseConfigurationError } from './errors/lease-configuration-error.js'
import { adaptiveStrategy } from './renewal/adaptive-strategy.js'
import { eagerStrategy, lazyStrategy } from './renewal/fraction-strategy.js'
import { intervalStrategy } from './renewal/interval-strategy.js'
import type { RenewalStrategy, RenewalTimes } from './renewal/renewal-strategy.js'
import { reasonOf, shownValue } from './shown-value.js'
import { readGuarded } from './user-code.js'

/** The renewal strategies that can be named in settings. */
export type RenewalStrategyName = 'interval' | 'eager' | 'lazy' | 'adaptive'

export interface TimeoutOptions {
  /** How often a grant is renewed, in milliseconds; max(heartbeatTimeout / 10, 5 s) unless given. */
  readonly heartbeatInterval?: number | undefined
  /** The ttl of a grant, in milliseconds; 120 s unless given. `Infinity` where the store allows it. */
  readonly heartbeatTimeout?: number | undefined
  /** The time limit of each call to the store, in milliseconds; 5 s unless given. */
  readonly operationTimeout?: number | undefined
  /** When heartbeats are sent: `interval` unless given. */
  readonly strategy?: RenewalStrategyName | RenewalStrategy | undefined
}

const DEFAULT_HEARTBEAT_TIMEOUT = 120_000
const DEFAULT_OPERATION_TIMEOUT = 5_000
const LEAST_DEFAULT_INTERVAL = 5_000

/** For a lease that does not expire: its heartbeats only detect that it was broken. */
const DEFAULT_INFINITE_INTERVAL = 12_000

/** The margin and the drift leave nothing worth having of a shorter ttl. */
const LEAST_HEARTBEAT_TIMEOUT = 100

const strategies: Readonly<Record<RenewalStrategyName, () => RenewalStrategy>> = {
  interval: intervalStrategy,
  eager: eagerStrategy,
  lazy: lazyStrategy,
  adaptive: adaptiveStrategy,
}

/**
 * The durations of a lease, in milliseconds; the defaults are Akka's (12 s, 120 s, 5 s). Validated when built: throws a
 * `LeaseConfigurationError` that says which number to change.
 */
export class TimeoutSettings implements RenewalTimes {
  readonly heartbeatInterval: number
  readonly heartbeatTimeout: number
  readonly operationTimeout: number
  readonly strategy: RenewalStrategy

  constructor(options: TimeoutOptions = {}) {
    this.heartbeatTimeout = options.heartbeatTimeout ?? DEFAULT_HEARTBEAT_TIMEOUT
    this.heartbeatInterval = options.heartbeatInterval ?? defaultInterval(this.heartbeatTimeout)
    this.operationTimeout = options.operationTimeout ?? DEFAULT_OPERATION_TIMEOUT
    checkDuration('heartbeatInterval', this.heartbeatInterval)
    checkDuration('operationTimeout', this.operationTimeout)
    if (this.heartbeatTimeout !== Number.POSITIVE_INFINITY) checkDuration('heartbeatTimeout', this.heartbeatTimeout)
    if (this.heartbeatTimeout < LEAST_HEARTBEAT_TIMEOUT) {
      throw new LeaseConfigurationError(
        `heartbeatTimeout must be at least ${LEAST_HEARTBEAT_TIMEOUT} ms, not ${this.heartbeatTimeout}`,
      )
    }
    this.strategy = strategyOf(options.strategy ?? 'interval')
    const fault = faultOf(this.strategy, this)
    if (fault !== undefined) throw new LeaseConfigurationError(fault)
  }
}

function defaultInterval(heartbeatTimeout: number): number {
  if (heartbeatTimeout === Number.POSITIVE_INFINITY) return DEFAULT_INFINITE_INTERVAL
  return Math.max(heartbeatTimeout / 10, LEAST_DEFAULT_INTERVAL)
}

function checkDuration(field: string, value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return
  throw new LeaseConfigurationError(
    `${field} must be a positive, finite number of milliseconds, not ${shownValue(value)}`,
  )
}

function strategyOf(strategy: RenewalStrategyName | RenewalStrategy): RenewalStrategy {
  if (typeof strategy === 'string' && Object.hasOwn(strategies, strategy)) return strategies[strategy]()
  const { check, plan } = Object(strategy) as Partial<RenewalStrategy>
  if (typeof strategy === 'object' && typeof check === 'function' && typeof plan === 'function') return strategy
  const given = typeof strategy === 'object' ? 'an object without check() and plan()' : shownValue(strategy)
  throw new LeaseConfigurationError(
    `strategy must be one of ${Object.keys(strategies).join(', ')}, or a RenewalStrategy, not ${given}`,
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
