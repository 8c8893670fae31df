import type { AcquireOptions, LeaseStore } from '@leasehold/core'
import { checkWork, extendHeld, keptAlive } from '@leasehold/core/internal'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { FirstAbort } from '../first-abort.js'
import { Recipe } from '../recipe.js'
import { type RecipeOptions, recipeOptionNames } from '../recipe-options.js'
import { Turnstile } from '../slots/turnstile.js'
import { checkedCount } from '../slots/turnstile-record.js'
import { type Permit, type PermitHeld, SlotPermit } from './permit.js'
import { resize } from './resizing.js'

export interface SemaphoreOptions extends RecipeOptions {
  /**
   * How many permits there are: a whole number from 1 to 100,000. If instances were made with different numbers, such as during
   * a rolling deployment, the number of the one that acquired its first permit last counts for all of them.
   */
  readonly permits: number
}

export interface ResizeOptions {
  /** Ends the wait; a number that was written stays. `resize` then rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/**
 * A number of permits for all instances together, such as "three downloads at a time".
 *
 * It guarantees: at most `permits` permits are valid at the same instant. Each is a lease on a numbered slot, so a permit
 * ends before its slot can be acquired by another, also after a crash, a pause or a partition. After the number was
 * changed, by a deployment or by `resize`, a permit is given only while fewer than the new number are held. So more permits
 * than the larger of both numbers are never valid; and once no more than the new number are held, it stays so. Waiters are
 * served first come, first served where the store is ordered. A hand-over costs the same number of store calls, however
 * many wait.
 *
 * It does not guarantee that the work of a holder has ended when its permit has: the work has to end on the signal, and a
 * resource has to check the fencing token of the slot. Waiters stand still for at most a ttl when the first of them dies.
 */
export class Semaphore extends Recipe {
  readonly name: string
  readonly #turnstile: Turnstile
  /** The permits that are being acquired, and those of runs. */
  readonly #inUse = new Set<SlotPermit>()
  /** The permits that `acquire` returned. */
  readonly #given = new Set<SlotPermit>()

  /** Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is invalid, or the store keeps no metadata. */
  constructor(store: LeaseStore, options: SemaphoreOptions) {
    checkOptionNames<SemaphoreOptions>('Semaphore', options, { ...recipeOptionNames, permits: true })
    super('semaphore', store, options)
    const { name, permits } = options
    this.name = name
    this.#turnstile = new Turnstile(store, 'permits', permits, options, this.watch)
  }

  /** How many permits there are, as far as this instance knows. It notices the `resize` of another with its next permit. */
  get permits(): number {
    return this.#turnstile.count
  }

  /**
   * A permit that is not held yet. `acquire`, `run` and `release` are those of every `Lease`; a permit can be acquired again.
   * They reject with a `LeaseConfigurationError` if the name is that of a `ReadWriteLease`, or its record is damaged.
   */
  permit(): Permit {
    this.throwIfStopped()
    return new SlotPermit(this.#turnstile)
  }

  /** Acquires a permit. `undefined`: all are held. Rejects as `Lease.acquire` does. Release it with `permit.release()`. */
  async acquire(options: AcquireOptions = {}): Promise<Permit | undefined> {
    return await this.#use(async (permit) => {
      if (!(await permit.acquire(options))) return undefined
      for (const other of this.#given) if (!other.checkLease()) this.#given.delete(other)
      this.#given.add(permit)
      return permit
    })
  }

  /** Does the work under a permit. Runs of one semaphore overlap, each under a permit of its own. Rejects as `Lease.run` does. */
  async run<T>(work: (held: PermitHeld) => Promise<T>, options: AcquireOptions = {}): Promise<T> {
    checkWork('the work of Semaphore.run', work, this.#turnstile.details)
    return await this.#use((permit) =>
      permit.run((held) => work(extendHeld(held, { slot: permit.slotInUse })), options),
    )
  }

  /**
   * Changes the number of permits, for all instances: at once, also while all are held and others wait. It takes no permit
   * away. From then on a permit is given only while fewer than `permits` are held. Resolves when at most `permits` are held.
   * Instances follow the new number, also those that are made later, until one is made with another number than those before.
   * Rejects with a `LeaseConflictError` if the number was changed again meanwhile.
   */
  async resize(permits: number, options: ResizeOptions = {}): Promise<void> {
    checkOptionNames<ResizeOptions>('resize', options, { signal: true }, this.#turnstile.details)
    const { signal } = options
    checkedCount('permits', permits, this.name)
    const ends = new FirstAbort(signal, this.closed)
    try {
      await keptAlive(this.#turnstile.clock, resize(this.#turnstile, permits, ends))
    } finally {
      ends.forget()
    }
  }

  /** @internal Ends the permits of `acquire` and `run`, and their waits. Permits of `permit()` are left to their owners. */
  protected override async end(timeout: number): Promise<void> {
    const permits = [...this.#inUse, ...this.#given]
    this.#given.clear()
    await this.close(permits, timeout)
  }

  async #use<T>(work: (permit: SlotPermit) => Promise<T>): Promise<T> {
    this.throwIfStopped()
    const permit = new SlotPermit(this.#turnstile)
    this.#inUse.add(permit)
    try {
      return await work(permit)
    } finally {
      this.#inUse.delete(permit)
    }
  }
}
