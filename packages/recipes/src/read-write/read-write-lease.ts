import { type Lease, LeaseConflictError, type LeaseStore, type StoreLease } from '@leasehold/core'
import { checkOptionNames } from '@leasehold/core/store-kit'
import { FirstAbort } from '../first-abort.js'
import { Recipe } from '../recipe.js'
import { type RecipeOptions, recipeOptionNames } from '../recipe-options.js'
import { EnteredLease } from '../slots/entered-lease.js'
import type { Entry, EntryRequest } from '../slots/entry.js'
import { waitUntilEmpty } from '../slots/slot-drain.js'
import { Turnstile } from '../slots/turnstile.js'
import { checkForeignKeys } from '../slots/turnstile-record.js'

export interface ReadWriteLeaseOptions extends RecipeOptions {
  /**
   * How many may read at the same time: a whole number from 1 to 100,000. A writer looks at one record for each. If
   * instances were made with different numbers, the number of the one that got its first grant last counts for all of them.
   */
  readonly readers: number
}

/**
 * Many readers or one writer. `shared` and `exclusive` are leases: `acquire`, `run`, `release` and the loss are those of
 * every `Lease`. One object has one of each; several readers of one process need an object each.
 *
 * It guarantees: while `exclusive` is valid for one instance, neither `shared` nor `exclusive` is valid for another. At most
 * `readers` are valid at a time. Readers that come after a waiting writer wait behind it, where the store is ordered. The
 * fencing token of both is larger for every later entry, of readers and writers alike.
 *
 * It does not guarantee that the work of a reader or writer has ended when its lease has: the resource has to check the
 * fencing token. A reader cannot become a writer, nor a writer a reader, without a release in between.
 */
export class ReadWriteLease extends Recipe {
  readonly name: string
  /** To read: held together with other readers. A reader is in a slot. */
  readonly shared: Lease
  /** To write: held alone. */
  readonly exclusive: Lease
  readonly #leases: readonly EnteredLease[]

  /** Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is invalid, or the store keeps no metadata. */
  constructor(store: LeaseStore, options: ReadWriteLeaseOptions) {
    checkOptionNames<ReadWriteLeaseOptions>('ReadWriteLease', options, { ...recipeOptionNames, readers: true })
    super('read-write lease', store, options)
    const { name, readers } = options
    this.name = name
    const turnstile = new Turnstile(store, 'readers', readers, options, this.watch)
    const shared: EnteredLease = new EnteredLease(turnstile, () => {
      if (!exclusive.isInUse) return undefined
      const message = `'${name}': this object writes, or waits to write, so it cannot read: release \`exclusive\` first`
      return new LeaseConflictError(message, turnstile.details)
    })
    const exclusive: EnteredLease = new ExclusiveLease(turnstile, () => {
      if (!shared.isInUse) return undefined
      const message =
        `'${name}': this object reads, or waits to read, and a reader cannot become a writer, because two that want it ` +
        'would wait for each other for ever: release `shared` first, and read again under `exclusive`'
      return new LeaseConflictError(message, turnstile.details)
    })
    this.shared = shared
    this.exclusive = exclusive
    this.#leases = [shared, exclusive]
  }

  /** @internal Ends both leases: the reason of the losses is `closed`. */
  protected override async end(timeout: number): Promise<void> {
    await this.close(this.#leases, timeout)
  }
}

/** A writer holds the turnstile, so that nobody enters, and has seen every slot empty since it took the turnstile. */
export class ExclusiveLease extends EnteredLease {
  protected override async enter(request: EntryRequest): Promise<Entry | undefined> {
    const { turnstile } = this
    const held = turnstile.lease()
    const { metadata } = request
    checkForeignKeys(metadata, turnstile.details)
    if (!(await this.take(held, request))) return undefined
    let entry: Entry | undefined
    try {
      // The slots will be empty when it leaves.
      const record = { ...(await turnstile.read(held)), isFull: false }
      const staying = turnstile.stay(held, record, metadata)
      // Without metadata of the user, this only saves time: a holder that cannot write is about to lose the turnstile.
      if (metadata === undefined) staying.catch(() => {})
      else await staying
      const slots = Array.from({ length: record.slots }, (_, slot) => slot)
      const isEmpty = await this.empty(slots, held.signal, request)
      const { fencingToken } = held
      // Its validity is checked again before it is granted.
      if (isEmpty && fencingToken !== undefined) entry = { lease: held, fencingToken }
      return entry
    } finally {
      if (entry === undefined) await held.release().catch(() => {})
    }
  }

  /** Takes the turnstile. */
  protected take(held: StoreLease, request: EntryRequest): Promise<boolean> {
    return this.turnstile.take(held, request)
  }

  /** Waits until every slot was seen empty. Resolves with `false` if the wait or the turnstile ended first. */
  protected async empty(slots: readonly number[], lost: AbortSignal, request: EntryRequest): Promise<boolean> {
    const { isPatient, wait } = request
    const ends = new FirstAbort(request.signal, lost)
    const cancel =
      isPatient && wait < Number.POSITIVE_INFINITY ? this.turnstile.clock.schedule(wait, () => ends.abort()) : () => {}
    try {
      return await waitUntilEmpty(this.turnstile, slots, ends, isPatient)
    } finally {
      cancel()
      ends.forget()
    }
  }
}
