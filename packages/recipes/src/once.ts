import {
  createLease,
  LeaseConfigurationError,
  type LeasedWork,
  LeaseHeldError,
  LeaseLostError,
  LeaseSettings,
  type LeaseStore,
  LeaseUnavailableError,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store'
import { roomOf } from './metadata-room.js'
import { checkMarks, createMark, type Mark, markFrom, outcomeOf } from './once-mark.js'
import { leaseOptionsOf, type RecipeOptions, recipeOptionNames } from './recipe-options.js'

/** The options of {@link Once}: those of its leases, and a name for its keys. */
export interface OnceOptions extends Omit<RecipeOptions, 'name'> {
  /** The beginning of the lease names: the lease of a key is `name/key`. Unless given, the key itself is the lease name. */
  readonly name?: string | undefined
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

const optionNames: OptionNames<OnceOptions> = recipeOptionNames
const runOptionNames: OptionNames<OnceRunOptions> = { wait: true, signal: true }

/**
 * Does the work of a key once, over any number of processes. The outcome of the work is left in the record of the key's
 * lease: the mark. Later callers get this outcome.
 *
 * Guaranteed: after the mark of a key was written, no work of the key starts for as long as the store keeps the mark. The
 * works of a key never overlap while their leases are valid. A `run` that resolves has seen the mark, so all get the same
 * outcome.
 *
 * Not guaranteed: that the work starts once. A holder that dies, or loses its lease, before its mark is written leaves the
 * key to the next caller, which starts the work again: also if the first one had reached its end. Make the work safe to
 * repeat, or write its effects under the fencing token.
 */
export class Once implements AsyncDisposable {
  readonly #store: LeaseStore
  readonly #name: string | undefined
  readonly #owner: string
  readonly #leaseOptions: ReturnType<typeof leaseOptionsOf>
  /** The leases that runs of this object use now. Runs of one key take turns, and a run inside its own work is found. */
  readonly #inUse = new Map<string, { readonly lease: StoreLease; users: number }>()
  #isClosed = false

  /** Throws a `LeaseConfigurationError` if an option is invalid, or if the store keeps no metadata. */
  constructor(store: LeaseStore, options: OnceOptions = {}) {
    checkOptionNames('Once', options, optionNames)
    const { name, owner } = options
    this.#store = store
    this.#name = name
    this.#owner = new LeaseSettings({ name: name ?? 'once', owner }).owner
    this.#leaseOptions = { ...leaseOptionsOf({ ...options, name: '' }), owner: this.#owner }
    // Checks the store and the other options.
    createLease(store, name ?? 'once', this.#leaseOptions)
    checkMarks(store, this.#owner)
  }

  /**
   * Resolves with the outcome of the key's work: does the work, or finds its mark. The work gets a signal, which aborts if
   * the lease is lost, and a fencing token. Its outcome must be JSON, or `undefined`, and every caller gets it as JSON
   * keeps it.
   *
   * Rejects with a `LeaseHeldError` if another caller does the work for longer than `wait`; with the error of the work,
   * if it fails: the key is then left to the next caller; with a `LeaseLostError` if the lease is lost during the work,
   * even if the work ignores its signal; with a `LeaseUnavailableError` if the work was done, but its mark could not be
   * confirmed: the next caller may do the work again. An outcome that is no JSON, or that the record has no room for, is
   * dropped: the work counts as done, and every `run` rejects with a `LeaseConfigurationError`.
   */
  async run<T>(key: string, work: LeasedWork<T>, options: OnceRunOptions = {}): Promise<T> {
    checkOptionNames('Once.run', options, runOptionNames, { leaseName: key })
    const { wait = 0, signal } = options
    signal?.throwIfAborted()
    const lease = this.#take(key)
    try {
      const found = await this.#readMark(lease.settings.name)
      return this.#outcomeOf(lease, found ?? (await this.#complete(lease, work, { wait, signal }))) as T
    } finally {
      this.#leave(key)
    }
  }

  /** The outcome of the key's work, and the owner that did it; `undefined` if the work is not done. Starts nothing. */
  async read(key: string): Promise<OnceOutcome | undefined> {
    const lease = createLease(this.#store, this.#leaseName(key), this.#leaseOptions)
    const mark = await this.#readMark(lease.settings.name)
    return mark === undefined ? undefined : { outcome: this.#outcomeOf(lease, mark), owner: mark.doneBy }
  }

  /**
   * Removes the mark, so that the next `run` does the work again. Resolves once that is confirmed. Rejects with a
   * `LeaseHeldError` if the work is in progress, and with a typed error if the outcome is unknown.
   */
  async forget(key: string): Promise<void> {
    const lease = this.#take(key)
    try {
      await lease.run(async () => {
        if (await lease.update({})) return
        throw new LeaseLostError(`the mark of '${key}' may still be there`, { reason: 'expired' })
      })
    } finally {
      this.#leave(key)
    }
  }

  /**
   * Ends all runs of this object: aborts their works (the reason of the loss is `closed`) and releases their leases. A
   * lease that cannot be released expires. Later runs reject with a `LeaseUnavailableError`.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(Array.from(this.#inUse.values(), ({ lease }) => lease.close()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #leaseName(key: string): string {
    return this.#name === undefined ? key : `${this.#name}/${key}`
  }

  #take(key: string): StoreLease {
    const details = { leaseName: key, owner: this.#owner }
    if (typeof key !== 'string') throw new LeaseConfigurationError('the key must be a text', { owner: this.#owner })
    if (this.#isClosed) throw new LeaseUnavailableError(`'${key}': this Once is closed`, details)
    const used = this.#inUse.get(key) ?? {
      lease: createLease(this.#store, this.#leaseName(key), this.#leaseOptions),
      users: 0,
    }
    used.users += 1
    this.#inUse.set(key, used)
    return used.lease
  }

  #leave(key: string): void {
    const used = this.#inUse.get(key)
    if (used === undefined) return
    used.users -= 1
    if (used.users === 0) this.#inUse.delete(key)
  }

  /** A mark that can be read is valid, held or not: it is written after the work, and never taken back. */
  async #readMark(leaseName: string): Promise<Mark | undefined> {
    const { operationTimeout: timeout, clock } = this.#leaseOptions
    const record = await readLease(this.#store, leaseName, { timeout, clock })
    return markFrom(record?.metadata)
  }

  #outcomeOf({ settings }: StoreLease, mark: Mark): unknown {
    return outcomeOf(mark, { leaseName: settings.name, owner: this.#owner, store: this.#store.kind ?? 'custom' })
  }

  /** Does the work under the lease, and marks it. Resolves with the mark that was confirmed, or found. */
  async #complete<T>(
    lease: StoreLease,
    work: LeasedWork<T>,
    { wait, signal }: { readonly wait: number; readonly signal: AbortSignal | undefined },
  ): Promise<Mark> {
    let written: Mark | undefined
    let isConfirmed = false
    const completing = lease.run(
      async (held) => {
        const left = markFrom(lease.previous)
        if (left !== undefined) return left
        const outcome = await work(held)
        // The grant may be lost, and another run of this object may have the lease by now: the work counts for nothing.
        held.signal.throwIfAborted()
        written = createMark(outcome, this.#owner, roomOf(this.#store))
        // The name stays locked until the store has confirmed the mark.
        isConfirmed = await lease.update(written)
        if (!isConfirmed) throw new LeaseLostError('the lease ended first', { reason: 'expired' })
        return written
      },
      signal === undefined ? { wait } : { wait, signal },
    )
    return await completing.catch(async (error: unknown) => {
      if (written !== undefined && isConfirmed) return written
      if (written !== undefined) throw this.#unmarked(lease, error)
      // The holder may have been a caller that only looked at the mark.
      const mark =
        error instanceof LeaseHeldError ? await this.#readMark(lease.settings.name).catch(() => undefined) : undefined
      if (mark === undefined) throw error
      return mark
    })
  }

  #unmarked({ settings: { name } }: StoreLease, cause: unknown): LeaseUnavailableError {
    const why = cause instanceof LeaseLostError ? ` because the lease ended (${cause.reason})` : ''
    return new LeaseUnavailableError(
      `the work of '${name}' was done, but its mark was not confirmed${why}: the next caller may do the work again; ` +
        'read() says whether the mark was written',
      { leaseName: name, owner: this.#owner, store: this.#store.kind ?? 'custom', cause },
    )
  }
}
