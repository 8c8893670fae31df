import {
  LeaseConfigurationError,
  type LeasedWork,
  LeaseHeldError,
  LeaseLostError,
  type LeaseStore,
  LeaseUnavailableError,
  type Metadata,
  type StoreLease,
} from '@leasehold/core'
import {
  checkFault,
  checkWork,
  faultOfDuration,
  faultOfFunction,
  faultOfLimit,
  faultOfSignal,
  roomOf,
} from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { KeyedLeases } from './keyed-leases.js'
import { checkMarks, createMark, hasExpired, type Mark, markFrom, outcomeOf } from './once-mark.js'
import { Recipe } from './recipe.js'
import { type RecipeOptions, recipeOptionNames } from './recipe-options.js'
import { checkRecipe } from './record-kind.js'
import { isTransient } from './slots/entry.js'
import { readWall } from './wall-clock.js'

/** The options of {@link Once}: those of its leases, and a name for its keys. */
export interface OnceOptions extends Omit<RecipeOptions, 'name'> {
  /** The beginning of the lease names: the lease of a key is `name/key`. Unless given, the key itself is the lease name. */
  readonly name?: string | undefined
  /**
   * How old an outcome may become, in milliseconds; no limit unless given. An older one is forgotten: the next `run` does the
   * work again. The age is measured with the wall clocks of the machines. If they differ, an outcome is kept for that much
   * longer or shorter.
   */
  readonly expiresAfter?: number | undefined
  /** The wall clock; the machine's unless given. For tests. */
  readonly now?: (() => Date) | undefined
}

/** The options of one `run`. */
export interface OnceRunOptions {
  /**
   * For how long to wait while another caller does the work, in milliseconds. 0, the default: rejects with a
   * `LeaseHeldError` at once. `Infinity`: until the work is done, or it is this caller's turn.
   */
  readonly wait?: number | undefined
  /** Cancels the wait, which then rejects with the signal's reason; never a work that has begun. */
  readonly signal?: AbortSignal | undefined
}

/** The mark of a key whose work is done. */
export interface OnceOutcome {
  /** The outcome of the work, as JSON keeps it. */
  readonly outcome: unknown
  /** The owner that did the work. */
  readonly owner: string
}

const optionNames: OptionNames<OnceOptions> = { ...recipeOptionNames, expiresAfter: true, now: true }
const runOptionNames: OptionNames<OnceRunOptions> = { wait: true, signal: true }

/**
 * Does the work of a key once, over any number of processes. The outcome of the work is left in the record of the key's
 * lease: the mark. Later callers get this outcome.
 *
 * Guaranteed: after the mark of a key was written, no work of the key starts for as long as the store keeps the mark, or
 * until it is older than `expiresAfter`. The works of a key never overlap while their leases are valid. A `run` that resolves has seen the mark, so all get the same
 * outcome.
 *
 * Not guaranteed: that the work starts once. A holder that dies, or loses its lease, before its mark is written leaves the
 * key to the next caller, which starts the work again: also if the first one had reached its end. Make the work safe to
 * repeat, or write its effects under the fencing token.
 */
export class Once extends Recipe {
  /** A run inside its own work finds the lease of its key here. */
  readonly #leases: KeyedLeases
  readonly #expiresAfter: number
  readonly #now: (() => Date) | undefined

  /** Throws a `LeaseConfigurationError` if an option is invalid, or if the store keeps no metadata. */
  constructor(store: LeaseStore, options: OnceOptions = {}) {
    checkOptionNames('Once', options, optionNames)
    super('once', store, options)
    const { expiresAfter = Number.POSITIVE_INFINITY, now } = options
    checkFault(faultOfDuration('Once: expiresAfter', expiresAfter) ?? faultOfFunction('Once: now', now))
    this.#expiresAfter = expiresAfter
    this.#now = now
    this.#leases = new KeyedLeases(store, options, 'once', (_key, lease) => this.watch(lease))
    checkMarks(store, this.#owner)
  }

  /**
   * Resolves with the outcome of the key's work: does the work, or finds its mark. The work gets a signal, which aborts if
   * the lease is lost, and a fencing token. Its outcome must be JSON, or `undefined`, and every caller gets it as JSON
   * keeps it.
   *
   * With a `wait`, it goes on while the store cannot be reached, until that time is over.
   *
   * Rejects with a `LeaseHeldError` if another caller does the work for longer than `wait`; with the error of the work,
   * if it fails: the key is then left to the next caller; with a `LeaseLostError` if the lease is lost during the work,
   * even if the work ignores its signal; with a `LeaseUnavailableError` if the work was done, but its mark could not be
   * confirmed: the next caller may do the work again. An outcome that is no JSON, or that the record has no room for, is
   * dropped: the work counts as done, and every `run` rejects with a `LeaseConfigurationError`. A key whose record another
   * recipe has written rejects with a `LeaseConfigurationError`, too; the work was not started.
   */
  async run<T>(key: string, work: LeasedWork<T>, options: OnceRunOptions = {}): Promise<T> {
    checkOptionNames('Once.run', options, runOptionNames, { leaseName: key })
    const details = { leaseName: key, owner: this.#owner }
    checkWork('the work of Once.run', work, details)
    const { wait = 0, signal } = options
    checkFault(faultOfLimit('wait', wait) ?? faultOfSignal(signal), details)
    signal?.throwIfAborted()
    return await this.#use(key, async (lease) => {
      // A call that waits goes on while the store cannot be reached, as `acquire` does. The holder reads the mark again.
      const failed = (error: unknown) => {
        if (wait === 0 || !isTransient(error)) throw error
        return undefined
      }
      const found = await this.#readMark(key).catch(failed)
      const mark = found ?? (await this.#complete(key, lease, work, { wait, signal }))
      return outcomeOf(mark, this.#detailsOf(key)) as T
    })
  }

  /** The outcome of the key's work, and the owner that did it; `undefined` if the work is not done. Starts nothing. */
  async read(key: string): Promise<OnceOutcome | undefined> {
    const mark = await this.#readMark(key)
    return mark === undefined ? undefined : { outcome: outcomeOf(mark, this.#detailsOf(key)), owner: mark.doneBy }
  }

  /**
   * Removes the mark, so that the next `run` does the work again. Resolves once that is confirmed. Rejects with a
   * `LeaseHeldError` if the work is in progress, and with a typed error if the outcome is unknown.
   */
  async forget(key: string): Promise<void> {
    await this.#use(key, (lease) =>
      lease.run(async () => {
        checkRecipe('once', lease.previous, this.#detailsOf(key))
        if (await lease.update({})) return
        throw new LeaseLostError(`the mark of '${key}' may still be there`, { reason: 'expired' })
      }),
    )
  }

  /** @internal A lease that cannot be released expires. */
  protected override async end(timeout: number): Promise<void> {
    await this.close(this.#leases.all, timeout)
  }

  get #owner(): string {
    return this.#leases.settings.owner
  }

  #detailsOf(key: string): LeaseErrorDetails {
    return { leaseName: this.#leases.nameOf(key), owner: this.#owner, store: this.#leases.store.kind ?? 'custom' }
  }

  async #use<T>(key: string, work: (lease: StoreLease) => Promise<T>): Promise<T> {
    if (typeof key !== 'string') throw new LeaseConfigurationError('the key must be a text', { owner: this.#owner })
    this.throwIfStopped()
    return await this.#leases.use(key, work)
  }

  /** A mark that can be read is valid, held or not, unless it has expired: it is written after the work. */
  async #readMark(key: string): Promise<Mark | undefined> {
    return this.#markFrom((await this.#leases.read(key))?.metadata, key)
  }

  #markFrom(metadata: Metadata | undefined, key: string): Mark | undefined {
    const mark = markFrom(metadata, this.#detailsOf(key))
    return mark === undefined || hasExpired(mark, this.#expiresAfter, this.#wall()) ? undefined : mark
  }

  #wall(): number {
    return readWall(this.#now, this.report)
  }

  /** Does the work under the lease, and marks it. Resolves with the mark that was confirmed, or found. */
  async #complete<T>(
    key: string,
    lease: StoreLease,
    work: LeasedWork<T>,
    { wait, signal }: { readonly wait: number; readonly signal: AbortSignal | undefined },
  ): Promise<Mark> {
    let written: Mark | undefined
    let isConfirmed = false
    const completing = lease.run(
      async (held) => {
        const left = this.#markFrom(lease.previous, key)
        if (left !== undefined) return left
        const outcome = await work(held)
        // The grant may be lost, and another run of this object may have the lease by now: the work counts for nothing.
        held.signal.throwIfAborted()
        const room = roomOf(this.#leases.store.limits)
        written = createMark(outcome, { owner: this.#owner, at: this.#wall(), room })
        // The name stays locked until the store has confirmed the mark.
        isConfirmed = await lease.update(written)
        if (!isConfirmed) throw new LeaseLostError('the lease ended first', { reason: 'expired' })
        return written
      },
      signal === undefined ? { wait } : { wait, signal },
    )
    return await completing.catch(async (error: unknown) => {
      if (written !== undefined && isConfirmed) return written
      if (written !== undefined) throw this.#unmarked(key, error)
      // The holder may have been a caller that only looked at the mark.
      const mark = error instanceof LeaseHeldError ? await this.#readMark(key).catch(() => undefined) : undefined
      if (mark === undefined) throw error
      return mark
    })
  }

  #unmarked(key: string, cause: unknown): LeaseUnavailableError {
    const details = this.#detailsOf(key)
    const why = cause instanceof LeaseLostError ? ` because the lease ended (${cause.reason})` : ''
    return new LeaseUnavailableError(
      `the work of '${details.leaseName}' was done, but its mark was not confirmed${why}: the next caller may do the work again; ` +
        'read() says whether the mark was written',
      { ...details, cause },
    )
  }
}
