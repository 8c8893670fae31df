import { isLease, type Lease, LeaseConfigurationError } from '@leasehold/core'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store'
import type { AnyActorLogic, AnyActorRef, AnyEventObject, EventFromLogic, InputFrom } from 'xstate'
import { describe, type LeaseSource } from './lease-of-actor.js'
import { onRejection } from './report.js'

/** The policy for a message that arrives while the stash is full. */
export type StashOverflow = 'drop-newest' | 'drop-oldest' | 'fail'

/**
 * The reason why a message was dropped.
 *
 * - `overflow`: the stash was full
 * - `stopped`: the actor was stopped or failed, or its worker ended, before the message was forwarded
 * - `lost`: the lease was lost, with the policy `stop`
 */
export type DropReason = 'overflow' | 'stopped' | 'lost'

export interface StashOptions {
  /** The maximum number of stashed messages. Default: 1,000,000. `Infinity` means no limit. */
  readonly capacity?: number | undefined
  /** The policy for a full stash. Default: `fail`, which ends the actor with a `StashOverflowError`. */
  readonly overflow?: StashOverflow | undefined
}

export interface LeaseGuardedOptions<W extends AnyActorLogic> {
  /**
   * The lease of the actor, not shared with other code. Or a function that makes a lease for each actor; it is called when
   * the actor starts. If the function throws, the actor ends with that error. If it returns anything but a `Lease`, such
   * as a promise, the actor ends with a `LeaseConfigurationError`.
   */
  readonly lease: Lease | ((actor: { readonly input: InputFrom<W>; readonly self: AnyActorRef }) => Lease)
  /**
   * The delay before the next attempt after a refusal or an error, in milliseconds on the clock of the actor system. The
   * last fifth of the delay is random. Default: the lease's setting `lease-retry-interval`.
   */
  readonly retryInterval?: number | undefined
  /**
   * How long each attempt waits for the lease, in milliseconds. Default: 0, which tries once and again after
   * `retryInterval`. `Infinity` waits until granted. If the store has a queue, the attempt waits in it, and a release is
   * passed on to the next actor at once.
   */
  readonly wait?: number | undefined
  readonly stash?: StashOptions | undefined
  /** The policy for a lost lease. Default: `stop`, which ends the actor with a `LeaseLostError`. */
  readonly onLeaseLost?: 'stop' | 'reacquire' | undefined
  /** Called for every dropped message. If it throws or rejects, the error is logged and the actor continues. */
  readonly onDropped?: ((event: EventFromLogic<W>, why: DropReason) => void) | undefined
}

/** The options with all defaults filled in, shared by all actors of the logic. */
export interface GuardedPlan {
  readonly worker: AnyActorLogic
  readonly lease: LeaseSource
  /** `undefined`: the interval of the lease. */
  readonly retryInterval: number | undefined
  readonly wait: number
  readonly capacity: number
  readonly overflow: StashOverflow
  readonly reacquires: boolean
  readonly onDropped: (event: AnyEventObject, why: DropReason) => unknown
}

const DEFAULT_CAPACITY = 1_000_000

const optionNames: OptionNames<LeaseGuardedOptions<AnyActorLogic>> = {
  lease: true,
  retryInterval: true,
  wait: true,
  stash: true,
  onLeaseLost: true,
  onDropped: true,
}

const overflows: readonly StashOverflow[] = ['drop-newest', 'drop-oldest', 'fail']
const policies = ['stop', 'reacquire'] as const

/** Fills in the defaults. Throws a `LeaseConfigurationError` that names the invalid option. */
export function planFrom<W extends AnyActorLogic>(worker: W, options: LeaseGuardedOptions<W>): GuardedPlan {
  check(isObject(options), 'options', 'an object', options)
  check(isLogic(worker), 'worker', 'actor logic, such as a machine or fromPromise(...)', worker)
  checkOptionNames<LeaseGuardedOptions<W>>('leaseGuarded', options, optionNames)
  const { lease, retryInterval, wait = 0, stash = {}, onLeaseLost = 'stop', onDropped = () => {} } = options
  check(isObject(stash), 'stash', 'an object', stash)
  checkOptionNames<StashOptions>('stash', stash, { capacity: true, overflow: true })
  const { capacity = DEFAULT_CAPACITY, overflow = 'fail' } = stash
  onRejection(lease, () => {})
  check(isLease(lease) || typeof lease === 'function', 'lease', 'a Lease, or a function that makes one', lease)
  const finite = retryInterval === undefined || (Number.isFinite(retryInterval) && retryInterval > 0)
  check(finite, 'retryInterval', 'a positive, finite number of milliseconds', retryInterval)
  check(typeof wait === 'number' && wait >= 0, 'wait', '0 or more milliseconds', wait)
  const whole = capacity === Number.POSITIVE_INFINITY || (Number.isSafeInteger(capacity) && capacity > 0)
  check(whole, 'stash.capacity', 'a positive whole number, or Infinity', capacity)
  check(overflows.includes(overflow), 'stash.overflow', `one of ${overflows.join(', ')}`, overflow)
  check(policies.includes(onLeaseLost), 'onLeaseLost', `one of ${policies.join(', ')}`, onLeaseLost)
  check(typeof onDropped === 'function', 'onDropped', 'a function', onDropped)
  return {
    worker,
    // The actor does not use the types of the worker's input and events. It only forwards them.
    lease: lease as GuardedPlan['lease'],
    retryInterval,
    wait,
    capacity,
    overflow,
    reacquires: onLeaseLost === 'reacquire',
    onDropped: onDropped as GuardedPlan['onDropped'],
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isLogic(value: unknown): boolean {
  const { transition, getInitialSnapshot } = Object(value) as Partial<AnyActorLogic>
  return typeof transition === 'function' && typeof getInitialSnapshot === 'function'
}

function check(fits: boolean, option: string, wanted: string, given: unknown): void {
  if (!fits) throw new LeaseConfigurationError(`${option} must be ${wanted}, not ${describe(given)}`)
}
