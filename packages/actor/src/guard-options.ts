import { isLease, type Lease, LeaseConfigurationError } from '@leasehold/core'
import type { AnyActorLogic, AnyActorRef, AnyEventObject, EventFromLogic, InputFrom } from 'xstate'
import { describe, type LeaseSource } from './lease-of-actor.js'
import { onRejection } from './report.js'

/** What to do with a message that comes to a full stash. */
export type StashOverflow = 'drop-newest' | 'drop-oldest' | 'fail'

/**
 * Why a message never reached the worker.
 *
 * - `overflow`: the stash was full
 * - `stopped`: the actor ended (was stopped, failed, or its worker ended) before it was the message's turn
 * - `lost`: the lease was lost, and the policy is to stop
 */
export type DropReason = 'overflow' | 'stopped' | 'lost'

export interface StashOptions {
  /** How many messages may wait for the lease; 1,000,000 unless given. `Infinity`: as many as fit into memory. */
  readonly capacity?: number | undefined
  /** `fail` unless given: the actor ends with a `StashOverflowError`. */
  readonly overflow?: StashOverflow | undefined
}

export interface LeaseGuardedOptions<W extends AnyActorLogic> {
  /**
   * The lease that the worker runs under, which nobody else uses, or a function that makes one for each actor, called
   * when the actor starts. The actor ends with the error that the function throws, and with a `LeaseConfigurationError`
   * where it returns anything but a `Lease`, such as a promise.
   */
  readonly lease: Lease | ((actor: { readonly input: InputFrom<W>; readonly self: AnyActorRef }) => Lease)
  /**
   * How long to wait after a refusal or an error before the lease is asked for again, in milliseconds on the clock of
   * the actor system. The last fifth of it is left to chance. The lease's own setting (`lease-retry-interval`) unless
   * given.
   */
  readonly retryInterval?: number | undefined
  /**
   * For how long each attempt waits for its turn, in milliseconds; 0 unless given: it asks once, and again after
   * `retryInterval`. `Infinity`: until granted, in the store's queue where it has one, so that a release reaches the
   * next actor at once.
   */
  readonly wait?: number | undefined
  readonly stash?: StashOptions | undefined
  /** What to do when the lease is lost; `stop` unless given: the actor ends with a `LeaseLostError`. */
  readonly onLeaseLost?: 'stop' | 'reacquire' | undefined
  /** Called for every message that is given up. If it throws or rejects, the error is logged, and nothing else fails. */
  readonly onDropped?: ((event: EventFromLogic<W>, why: DropReason) => void) | undefined
}

/** The options of a guard with nothing left out, shared by all its actors. */
export interface GuardPlan {
  readonly worker: AnyActorLogic
  readonly lease: LeaseSource
  /** `undefined`: that of the lease. */
  readonly retryInterval: number | undefined
  readonly wait: number
  readonly capacity: number
  readonly overflow: StashOverflow
  readonly reacquires: boolean
  readonly onDropped: (event: AnyEventObject, why: DropReason) => unknown
}

const DEFAULT_CAPACITY = 1_000_000

const overflows: readonly StashOverflow[] = ['drop-newest', 'drop-oldest', 'fail']
const policies = ['stop', 'reacquire'] as const

/** Throws a `LeaseConfigurationError` that says which option to change. */
export function planOf<W extends AnyActorLogic>(worker: W, options: LeaseGuardedOptions<W>): GuardPlan {
  check(isObject(options), 'options', 'an object', options)
  check(isLogic(worker), 'worker', 'actor logic, such as a machine or fromPromise(...)', worker)
  const { lease, retryInterval, wait = 0, stash = {}, onLeaseLost = 'stop', onDropped = () => {} } = options
  check(isObject(stash), 'stash', 'an object', stash)
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
    // Inside, the types of the worker are not known: its input and its events only pass through.
    lease: lease as GuardPlan['lease'],
    retryInterval,
    wait,
    capacity,
    overflow,
    reacquires: onLeaseLost === 'reacquire',
    onDropped: onDropped as GuardPlan['onDropped'],
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
