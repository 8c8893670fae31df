import { type Lease, LeaseConfigurationError, type LeaseLost, type LeaseRecord, type Metadata } from '@leasehold/core'
import {
  checkFault,
  faultOfFunction,
  faultOfInterval,
  faultOfLimit,
  isLease,
  isThenable,
  shownValue,
} from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames, systemRandom } from '@leasehold/core/store-kit'
import type { AnyActorLogic, AnyActorRef, AnyEventObject, EventFromLogic, InputFrom } from 'xstate'
import { isReserved } from './control-event.js'
import { isReference, type LeaseReference, type LeaseSource } from './lease-of-actor.js'
import type { LossPolicy } from './loss-policy.js'

/** The policy for a message that arrives while the stash is full. */
export type StashOverflow = 'drop-newest' | 'drop-oldest' | 'fail'

/**
 * The reason why a message was dropped.
 *
 * - `overflow`: the stash was full
 * - `stopped`: the actor was stopped or failed, or its worker ended, before the message was forwarded
 * - `lost`: the lease was lost, with the policy `stop`
 * - `standby`: the actor did not hold the lease, with `whileAcquiring: 'drop'`, or with a function that failed
 */
export type DropReason = 'overflow' | 'stopped' | 'lost' | 'standby'

export interface DrainOptions<Event> {
  /** The message that asks the worker to finish. It is the last message that the worker receives. */
  readonly event: Event
  /** The longest time that the worker may take, in milliseconds on the clock of the actor system. */
  readonly stopTimeout: number
}

export interface StashOptions {
  /** The maximum number of stashed messages. Default: 1,000,000. `Infinity` means no limit. */
  readonly capacity?: number | undefined
  /** The policy for a full stash. Default: `fail`, which ends the actor with a `StashOverflowError`. */
  readonly overflow?: StashOverflow | undefined
}

export interface LeaseGuardedOptions<W extends AnyActorLogic> {
  /**
   * The lease of the actor, not shared with other code: a lease, a promise for one, a reference to a lease of a
   * `LeaseProvider`, or a function that makes a lease for each actor, also asynchronously. References and functions are
   * used when the actor starts.
   *
   * If a function or a provider fails with a `LeaseUnavailableError` or a `LeaseTimeoutError`, the actor tries again after
   * `retryInterval`. It ends with any other error. It ends with a `LeaseConfigurationError` if the result is not a `Lease`.
   */
  readonly lease:
    | Lease
    | PromiseLike<Lease>
    | LeaseReference
    | ((actor: { readonly input: InputFrom<W>; readonly self: AnyActorRef }) => Lease | PromiseLike<Lease>)
  /**
   * The delay before the next attempt after a refusal or an error, in milliseconds on the clock of the actor system. The
   * last fifth of the delay is random. Default: the lease's setting `lease-retry-interval`.
   */
  readonly retryInterval?: number | undefined
  /** Random numbers from 0 to 1, 1 excluded, for that delay; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
  /**
   * How long each attempt waits for the lease, in milliseconds. Default: 0, which tries once and again after
   * `retryInterval`. `Infinity` waits until granted. If the store has a queue, the attempt waits in it, and a release is
   * passed on to the next actor at once.
   */
  readonly wait?: number | undefined
  /** Kept in the record of the lease while this actor holds it, for example its address for the actors on standby. */
  readonly metadata?: Metadata | undefined
  readonly stash?: StashOptions | undefined
  /**
   * The policy for messages while another owner holds the lease. Default: `stash`, until the grant. `drop` drops them. A
   * function is called with each message and the record of the holder, as last read after a refusal and every
   * `retryInterval`: `undefined` if the name was free, or if the holder could not be read. If the function throws or
   * rejects, the error is logged and the message is dropped. Before the first answer of the store, messages are stashed.
   */
  readonly whileAcquiring?:
    | 'stash'
    | 'drop'
    | ((event: EventFromLogic<W>, standby: { readonly holder: LeaseRecord | undefined }) => void)
    | undefined
  /**
   * The policy for a lost lease. Default: `stop`, which ends the actor with a `LeaseLostError`. `reacquire` acquires again.
   * A function decides for each loss; it is called after the worker was stopped. If it fails, the actor ends.
   */
  readonly onLeaseLost?: LossPolicy | ((lost: LeaseLost) => LossPolicy) | undefined
  /**
   * Lets the worker finish before a voluntary end: `resign(actor)`, `actor.stop()`, or a stop by the parent. The worker
   * receives the event, and the lease stays held until the worker ends or the time is up. Default: none, the worker is
   * stopped at once. After a loss, the worker is always stopped at once.
   */
  readonly drain?: DrainOptions<EventFromLogic<W>> | undefined
  /** Called for every dropped message. If it throws or rejects, the error is logged and the actor continues. */
  readonly onDropped?: ((event: EventFromLogic<W>, why: DropReason) => void) | undefined
}

/** Handles the messages of an actor that does not hold its lease, if they are not stashed. */
export type StandbyPolicy = 'drop' | ((event: AnyEventObject, standby: { holder: LeaseRecord | undefined }) => unknown)

/** The options with all defaults filled in, shared by all actors of the logic. */
export interface GuardedPlan {
  readonly worker: AnyActorLogic
  readonly lease: LeaseSource
  /** `undefined`: the interval of the lease. */
  readonly retryInterval: number | undefined
  readonly random: () => number
  readonly wait: number
  readonly metadata: Metadata | undefined
  readonly capacity: number
  readonly overflow: StashOverflow
  /** `undefined`: messages are stashed. */
  readonly standby: StandbyPolicy | undefined
  readonly onLeaseLost: LossPolicy | ((lost: LeaseLost) => unknown)
  readonly drain: DrainOptions<AnyEventObject> | undefined
  readonly onDropped: (event: AnyEventObject, why: DropReason) => unknown
}

const DEFAULT_CAPACITY = 1_000_000

/** The longest delay of a Node timer. A longer one fires at once. */
const LONGEST_TIMER = 2_147_483_647
const optionNames: OptionNames<LeaseGuardedOptions<AnyActorLogic>> = {
  lease: true,
  retryInterval: true,
  random: true,
  wait: true,
  stash: true,
  metadata: true,
  whileAcquiring: true,
  drain: true,
  onLeaseLost: true,
  onDropped: true,
}

const overflows: readonly StashOverflow[] = ['drop-newest', 'drop-oldest', 'fail']
const policies: readonly unknown[] = ['stop', 'reacquire']
const standbyPolicies: readonly unknown[] = ['stash', 'drop']

/** Fills in the defaults. Throws a `LeaseConfigurationError` that names the invalid option. */
export function planFrom<W extends AnyActorLogic>(worker: W, options: LeaseGuardedOptions<W>): GuardedPlan {
  check(isObject(options), 'options', 'an object', options)
  check(isLogic(worker), 'worker', 'actor logic, such as a machine or fromPromise(...)', worker)
  checkOptionNames<LeaseGuardedOptions<W>>('leaseGuarded', options, optionNames)
  const { lease, retryInterval, random = systemRandom, wait = 0, metadata, stash = {}, onDropped = () => {} } = options
  const { whileAcquiring = 'stash', onLeaseLost = 'stop', drain } = options
  check(isObject(stash), 'stash', 'an object', stash)
  checkOptionNames<StashOptions>('stash', stash, { capacity: true, overflow: true })
  const { capacity = DEFAULT_CAPACITY, overflow = 'fail' } = stash
  checkLease(lease)
  checkFault(faultOfInterval('retryInterval', retryInterval) ?? faultOfFunction('random', random))
  checkFault(faultOfLimit('wait', wait) ?? faultOfFunction('onDropped', onDropped))
  check(metadata === undefined || isObject(metadata), 'metadata', 'an object of texts', metadata)
  const whole = capacity === Number.POSITIVE_INFINITY || (Number.isSafeInteger(capacity) && capacity > 0)
  check(whole, 'stash.capacity', 'a positive whole number, or Infinity', capacity)
  check(overflows.includes(overflow), 'stash.overflow', `one of ${overflows.join(', ')}`, overflow)
  checkPolicy(standbyPolicies, 'whileAcquiring', whileAcquiring)
  checkPolicy(policies, 'onLeaseLost', onLeaseLost)
  if (drain !== undefined) checkDrain(drain)
  return {
    worker,
    // The actor does not use the types of the worker's input and events. It only forwards them.
    lease: lease as GuardedPlan['lease'],
    retryInterval,
    random,
    wait,
    metadata,
    capacity,
    overflow,
    standby: whileAcquiring === 'stash' ? undefined : (whileAcquiring as StandbyPolicy),
    onLeaseLost,
    drain,
    onDropped: onDropped as GuardedPlan['onDropped'],
  }
}

function checkLease(lease: unknown): void {
  // The actor reports the rejection when it starts.
  if (isThenable(lease)) Promise.resolve(lease).then(undefined, () => {})
  const fits = isLease(lease) || isThenable(lease) || isReference(lease) || typeof lease === 'function'
  const wanted = 'a Lease, a promise for one, { provider, name, configPath, owner? }, or a function that makes one'
  check(fits, 'lease', wanted, lease)
  if (isLease(lease) || !isReference(lease)) return
  checkOptionNames<LeaseReference>('lease', lease, { provider: true, name: true, configPath: true, owner: true })
}

function checkPolicy(policies: readonly unknown[], option: string, given: unknown): void {
  const fits = policies.includes(given) || typeof given === 'function'
  check(fits, option, `one of ${policies.join(', ')}, or a function`, given)
}

function checkDrain(drain: unknown): void {
  check(isObject(drain), 'drain', 'an object', drain)
  checkOptionNames<DrainOptions<unknown>>('drain', drain as DrainOptions<unknown>, { event: true, stopTimeout: true })
  const { event, stopTimeout } = drain as { event?: unknown; stopTimeout?: unknown }
  const { type } = Object(event) as { type?: unknown }
  check(typeof type === 'string' && !isReserved(type), 'drain.event', 'a message for the worker', event)
  const inTime = typeof stopTimeout === 'number' && stopTimeout > 0 && stopTimeout <= LONGEST_TIMER
  check(inTime, 'drain.stopTimeout', `a number of milliseconds from 1 to ${LONGEST_TIMER}`, stopTimeout)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isLogic(value: unknown): boolean {
  const { transition, getInitialSnapshot } = Object(value) as Partial<AnyActorLogic>
  return typeof transition === 'function' && typeof getInitialSnapshot === 'function'
}

function check(fits: boolean, option: string, wanted: string, given: unknown): void {
  if (!fits) throw new LeaseConfigurationError(`${option} must be ${wanted}, not ${shownValue(given)}`)
}
