import { LeaseConfigurationError, type LeaseStore, LeaseTimeoutError } from '@leasehold/core'
import { keptAlive } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { Recipe } from '../recipe.js'
import { type RecipeOptions, recipeOptionNames } from '../recipe-options.js'
import { Turnstile } from '../slots/turnstile.js'
import { endsWithin } from '../waiting.js'
import type { Lock, LockManagerSnapshot, LockOptions } from './lock.js'
import { leaseNameOf } from './lock-name.js'
import { LockQueue } from './lock-queue.js'
import { readLocks } from './lock-records.js'
import { type LockRequest, toLockRequest } from './lock-request.js'
import { checkCanSteal } from './stealing-lease.js'

export interface LockManagerOptions extends Omit<RecipeOptions, 'name'> {
  /** The beginning of the lease names: managers with the same one share their locks. `locks` unless given. */
  readonly name?: string | undefined
  /**
   * How many processes may hold one lock `shared` at the same time: a whole number from 1 to 100,000; 16 unless given. Give
   * all managers of a name the same. An `exclusive` request reads one record for each.
   */
  readonly readers?: number | undefined
}

const DEFAULT_NAME = 'locks'
const DEFAULT_READERS = 16

/**
 * The `LockManager` of the Web Locks API (https://w3c.github.io/web-locks/) over a store: the locks of a name exclude each
 * other over all processes that use the same store.
 *
 * Guaranteed: while an `exclusive` lock is valid, no other lock of its name is, unless one of them was stolen. A lock whose
 * lease is lost ends: its signal aborts, and its promise rejects, even if the callback goes on.
 *
 * Not guaranteed: that a callback has ended when its lock has. The resource has to check the fencing token.
 */
export class LockManager extends Recipe {
  /** The `clientId` of this manager in the result of `query`: the owner of its leases. */
  readonly clientId: string
  readonly #store: LeaseStore
  readonly #name: string
  readonly #readers: number
  readonly #options: RecipeOptions
  readonly #details: LeaseErrorDetails
  readonly #timeout: number
  readonly #queues = new Map<string, LockQueue>()

  /** @internal Use `createLockManager`. */
  constructor(store: LeaseStore, options: LockManagerOptions) {
    const names = { ...recipeOptionNames, readers: true } as const
    checkOptionNames<LockManagerOptions>('createLockManager', options, names)
    super('lock manager', store, options)
    const { name = DEFAULT_NAME, readers = DEFAULT_READERS, ...others } = options
    // Making it checks the options, and that the store keeps metadata.
    const { settings, details } = new Turnstile(store, 'readers', readers, { ...others, name }, () => {})
    this.#store = store
    this.#name = name
    this.#readers = readers
    this.clientId = settings.owner
    this.#options = { ...others, name, owner: settings.owner }
    this.#details = { ...details, owner: settings.owner }
    this.#timeout = settings.timeouts.operationTimeout
  }

  /**
   * Requests a lock, and calls the callback with it. The lock is held until the promise of the callback settles, and is then
   * released. Settles as the callback does, after the release.
   *
   * The callback gets `null` if `ifAvailable` is given and the lock is not available. With `signal`, a request that waits
   * can be cancelled, and then rejects with the reason of the signal.
   *
   * Rejects with a `DOMException` of the specification: `NotSupportedError` for a name that begins with `-`, and for options
   * that exclude each other; `AbortError` if the lock was stolen, or broken by an operator. Rejects with a `TypeError` for an
   * argument of a wrong type. Beyond the specification, it rejects with a `LeaseLostError` if the lease of the lock was lost,
   * even if the callback goes on; with a `LeaseNameError` for a name that is too long for the store; with a
   * `LeaseConfigurationError` for an unknown option, and for `steal` if the store cannot break leases or hand them over; with
   * the typed error of the store if that refuses the request. After `stop()`, it rejects with a `LeaseUnavailableError`.
   */
  request<T>(name: string, callback: (lock: Lock) => T): Promise<Awaited<T>>
  request<T>(
    name: string,
    options: LockOptions & { readonly ifAvailable?: false | undefined },
    callback: (lock: Lock) => T,
  ): Promise<Awaited<T>>
  request<T>(name: string, options: LockOptions, callback: (lock: Lock | null) => T): Promise<Awaited<T>>
  request(...given: readonly unknown[]): Promise<unknown> {
    return keptAlive(this.clock, this.#request(given))
  }

  /**
   * The locks that are held and the requests that wait, at about this moment. It reads the records of all locks of this name,
   * and says of other processes what their records show: a process that holds a lock `shared` several times is listed once,
   * and of its waiting requests only one that is next and waits for the end of `shared` locks. Rejects with a
   * `LeaseConfigurationError` if the store cannot list leases, and with a typed error if it does not answer in time.
   */
  async query(): Promise<LockManagerSnapshot> {
    if (this.#store.list === undefined) {
      const { kind = 'custom' } = this.#store
      throw new LeaseConfigurationError(`the ${kind} store cannot list leases, so query is not possible`, this.#details)
    }
    const { held, pending } = await readLocks(this.#store, this.#name, { timeout: this.#timeout, clock: this.clock })
    // This process knows more about its own locks than their records.
    const others = <I extends LockManagerSnapshot['held'][number]>({ name, clientId }: I): boolean =>
      clientId !== this.clientId || !this.#queues.has(name)
    const own = [...this.#queues.values()]
    return {
      held: [...own.flatMap((queue) => queue.held), ...held.filter(others)],
      pending: [...own.flatMap((queue) => queue.pending), ...pending.filter(others)],
    }
  }

  /**
   * @internal Requests that wait are rejected. Locks are released when their callbacks have ended, so that no other process
   * works beside them.
   */
  protected override async end(timeout: number): Promise<void> {
    const queues = [...this.#queues.values()]
    for (const queue of queues) queue.stop(this.closed.reason)
    if (await endsWithin(this.clock, timeout, Promise.all(queues.map(({ idle }) => idle)))) return
    const left = queues.filter(({ isIdle }) => !isIdle).length
    const message =
      `lock manager '${this.#name}': ${left} of ${queues.length} locks were not released within ${timeout} ms: they are free ` +
      'when their callbacks have ended, or the process has ended and their ttl is over; end the callbacks when the signals abort'
    throw new LeaseTimeoutError(message, this.#details)
  }

  async #request(given: readonly unknown[]): Promise<unknown> {
    this.throwIfStopped()
    const request = toLockRequest(given)
    if (request.steal) checkCanSteal(this.#store, this.#details)
    this.#queueOf(request).add(request)
    return await request.result
  }

  #queueOf({ name }: LockRequest): LockQueue {
    const known = this.#queues.get(name)
    if (known !== undefined) return known
    const options = { ...this.#options, name: leaseNameOf(this.#name, name) }
    const turnstile = new Turnstile(this.#store, 'readers', this.#readers, options, this.watch)
    const queue: LockQueue = new LockQueue(name, turnstile, this.report, () => {
      if (this.#queues.get(name) === queue) this.#queues.delete(name)
    })
    this.#queues.set(name, queue)
    return queue
  }
}

/**
 * A `LockManager` of the Web Locks API whose locks exclude each other over all processes that use the store.
 *
 * Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is invalid, or the store keeps no metadata.
 */
export function createLockManager(store: LeaseStore, options: LockManagerOptions = {}): LockManager {
  return new LockManager(store, options)
}
