import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { checkFault, faultOfDuration, faultOfInterval } from '../errors/option-faults.js'
import { checkOptionNames, type OptionNames } from '../errors/option-names.js'
import { shownValue } from '../errors/shown-value.js'
import { checkLeaseName, checkOwner } from '../store/lease-name.js'
import { LEAST_FENCED_TTL, SELF_FENCES, type SelfFenceMode } from './fence-times.js'
import { leastFailover } from './lease-objective.js'
import { createOwner } from './owner.js'
import { TimeoutSettings } from './timeout-settings.js'

export interface LeaseSettingsOptions {
  /** The lease name: any well-formed Unicode string up to 1,024 bytes of UTF-8. */
  readonly name: string
  /** The name of the owner; `hostname-pid-<nanoid>` unless given. */
  readonly owner?: string | undefined
  /** Akka's defaults unless given. */
  readonly timeouts?: TimeoutSettings | undefined
  /** The longest that one grant may be held, in milliseconds: ends a lease that a hung worker would renew for ever. */
  readonly maxHold?: number | undefined
  /** How long actors wait after a refusal before they ask again, in milliseconds; 5 s unless given. */
  readonly retryInterval?: number | undefined
  /**
   * Allows children in other processes (`watchParent`): after a release the name stays locked for this time, in
   * milliseconds, until they have ended. At most `heartbeatTimeout`.
   */
  readonly childGrace?: number | undefined
  /**
   * Ends the process that has not acknowledged the loss of a grant in time, before anyone else can be granted the name:
   * code that ignores its signal, or a loop that never yields, cannot act past the lease. `kill`: by SIGKILL. `exit`: by
   * SIGTERM first, and by SIGKILL if that is not enough. The validity ends 7 % of the ttl earlier. Not for process 1, nor
   * with a clock of your own. A ttl of at least one second.
   */
  readonly selfFence?: SelfFenceMode | undefined
  /**
   * For how long the heartbeat thread renews the grant while the thread that uses the lease shows no sign of life, in
   * milliseconds; 60 s unless given, at least 100 ms. Only for leases over a store of a `HeartbeatThread`.
   */
  readonly unresponsiveAfter?: number | undefined
  /** The provider's own block. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
}

/** Akka's default, in milliseconds. */
const DEFAULT_RETRY_INTERVAL = 5_000

/** The settings of a lease. Validated when built: throws a `LeaseNameError` or a `LeaseConfigurationError`. */
export class LeaseSettings {
  readonly name: string
  readonly owner: string
  readonly timeouts: TimeoutSettings
  readonly maxHold: number
  readonly retryInterval: number
  /** Absent unless given. */
  declare readonly childGrace?: number
  /** Absent unless given. */
  declare readonly selfFence?: SelfFenceMode
  /** Absent unless given. */
  declare readonly unresponsiveAfter?: number
  /** Not enumerable, so that printing the settings prints no password. */
  declare readonly options: Readonly<Record<string, unknown>>

  constructor(given: LeaseSettingsOptions) {
    const { name, owner = createOwner(), timeouts, maxHold, retryInterval, childGrace, selfFence, options } = given
    const { unresponsiveAfter } = given
    checkOptionNames('LeaseSettings', given, optionNames, { leaseName: name })
    checkLeaseName(name)
    checkOwner(owner)
    this.name = name
    this.owner = owner
    this.timeouts = timeouts ?? defaultTimeouts
    this.maxHold = maxHold ?? Number.POSITIVE_INFINITY
    this.retryInterval = retryInterval ?? DEFAULT_RETRY_INTERVAL
    if (childGrace !== undefined) this.childGrace = childGrace
    if (selfFence !== undefined) this.selfFence = checkedSelfFence(selfFence, this.timeouts)
    if (unresponsiveAfter !== undefined) this.unresponsiveAfter = checkedUnresponsiveAfter(unresponsiveAfter)
    Object.defineProperty(this, 'options', { value: options ?? noOptions })
    checkFault(faultOfDuration('maxHold', this.maxHold) ?? faultOfInterval('retryInterval', this.retryInterval))
  }
}

const optionNames: OptionNames<LeaseSettingsOptions> = {
  name: true,
  owner: true,
  timeouts: true,
  maxHold: true,
  retryInterval: true,
  childGrace: true,
  selfFence: true,
  unresponsiveAfter: true,
  options: true,
}

function checkedSelfFence(mode: SelfFenceMode, { heartbeatTimeout, objective }: TimeoutSettings): SelfFenceMode {
  if (!SELF_FENCES.includes(mode)) {
    throw new LeaseConfigurationError(`selfFence must be one of ${SELF_FENCES.join(', ')}, not ${shownValue(mode)}`)
  }
  if (heartbeatTimeout >= LEAST_FENCED_TTL) return mode
  const least = `selfFence needs a heartbeatTimeout of at least ${LEAST_FENCED_TTL} ms, not ${heartbeatTimeout}`
  const raise =
    objective === undefined ? 'raise it' : `raise objective.failover to at least ${leastFailover(LEAST_FENCED_TTL)} ms`
  throw new LeaseConfigurationError(`${least}: ${raise}, or leave selfFence out`)
}

/** The least `unresponsiveAfter`: no sign of life comes more often than it needs. Milliseconds. */
const LEAST_UNRESPONSIVE_AFTER = 100

function checkedUnresponsiveAfter(duration: number): number {
  if (typeof duration === 'number' && duration >= LEAST_UNRESPONSIVE_AFTER) return duration
  throw new LeaseConfigurationError(
    `unresponsiveAfter must be at least ${LEAST_UNRESPONSIVE_AFTER} ms, or Infinity, not ${shownValue(duration)}`,
  )
}

const defaultTimeouts = new TimeoutSettings()
const noOptions: Readonly<Record<string, unknown>> = Object.freeze({})
