import {
  createLease,
  type LeaseLost,
  LeaseLostError,
  type LeaseStore,
  LeaseTimeoutError,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import { heldOf, keepAlive, keptAlive } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { systemRandom } from '@leasehold/core/store-kit'
import { FirstAbort } from '../first-abort.js'
import { type RecipeEvents, StartedRecipe } from '../recipe.js'
import { leaseOptionsOf } from '../recipe-options.js'
import { keepOtherRecipe } from '../record-kind.js'
import { endsWithin, pauseUntil } from '../waiting.js'
import { type Leader, leaderOf } from './leader.js'
import { type CheckedOptions, checkedOptions, type LeaderElectionOptions } from './leader-election-options.js'
import { type ObserverEnvironment, observeLeader } from './observe-leader.js'
import { TermRun } from './term.js'

/** The events of a `LeaderElection`, and their arguments. A term that was `elected` ends as `resigned` or as `lost`. */
export interface LeaderEvents extends RecipeEvents {
  elected: [term: bigint]
  /** The term has ended: its work is over, and the lease was released. */
  resigned: [term: bigint]
  /** The lease was lost. Its work may go on until it notices. */
  lost: [term: bigint, lost: LeaseLost]
}

/** A leader leads for weeks: core would warn of a lease that is held for long without `maxHold`. Milliseconds. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** The longest pause of a waiting candidate between two requests, in milliseconds. */
const LONGEST_POLL = 5_000

/**
 * An election among the processes that use the same name: at most one leads at a time, and everyone can know which one.
 * `start()` makes this process a candidate, until `stop()`. Without `start()` it only observes.
 *
 * Guaranteed: terms of different processes never overlap by `isLeader`, whose answer is that of `checkLease`; each later term
 * has a larger number; a term never starts in this process before the work of the last one has ended; a term that is given
 * up keeps its lease until its work has ended: also if `stop()` has rejected, because the work took longer than its time.
 *
 * Not guaranteed: that work which ignores its signal ends with its term. After a loss it can overlap with the work of the next
 * leader. Send the number of the term with each write, and let the resource reject smaller ones.
 */
export class LeaderElection extends StartedRecipe<LeaderEvents> {
  readonly name: string
  /** The name of this process as a leader: as given, or made for it. */
  readonly owner: string
  readonly #options: CheckedOptions
  readonly #lease: StoreLease
  readonly #environment: ObserverEnvironment
  /** The term whose work has not ended. */
  #term: TermRun | undefined
  /** Settles when the work of the term has ended and the lease was released. */
  #leading: Promise<unknown> | undefined
  /** Whether the record was that of another recipe: it is then read before the next grant replaces its metadata. */
  #isOfOther = false
  /** When the ttl of the last confirmed request is over. */
  #expiresAt = Number.POSITIVE_INFINITY

  /**
   * Throws a `LeaseConfigurationError` or a `LeaseNameError` if an option is unknown or not valid, and if `metadata` is given
   * to a store that has no room for it.
   */
  constructor(store: LeaseStore, options: LeaderElectionOptions) {
    const checked = checkedOptions(options, store)
    super('election', store, options)
    this.#options = checked
    const { name, random = systemRandom, maxHold = NO_LIMIT } = options
    const { clock, report } = this
    this.#lease = createLease(store, name, { ...leaseOptionsOf(options), maxHold })
    const { owner, timeouts } = this.#lease.settings
    this.name = name
    this.owner = owner
    this.#environment = { store, name, timeouts, clock, random, report }
    const onConfirmed = (): void => {
      this.#expiresAt = clock.now() + timeouts.heartbeatTimeout
    }
    this.watch(this.#lease).on('acquired', onConfirmed).on('renewed', onConfirmed)
  }

  /**
   * Whether this process leads now. Synchronous, without I/O: the `checkLease` of its lease, which is correct even after a
   * blocked event loop, a pause or a suspend.
   */
  get isLeader(): boolean {
    return this.#lease.checkLease()
  }

  /** The number of the term of this process, a fencing token; `undefined` while it does not lead. */
  get term(): bigint | undefined {
    return this.isLeader ? this.#lease.fencingToken : undefined
  }

  /**
   * For a health check. `false` while work goes on although the ttl is over since the last confirmed heartbeat, so that
   * another process may lead: such work ignores its signal, or its process hangs. Also `false` when the campaign has waited
   * for longer than a ttl for a store that cannot be reached, or refuses it. `true` otherwise, also without any leader.
   */
  get healthy(): boolean {
    if (this.#term !== undefined) return this.clock.now() < this.#expiresAt
    return this.outage.duration <= this.#environment.timeouts.heartbeatTimeout
  }

  /**
   * Ends the term of this process, if it has one: aborts the signal of the work, waits for the work to end and releases the
   * lease. The next campaign begins after `resignPause`. Rejects with a `LeaseTimeoutError` if the work has not ended
   * within `stopTimeout`; the lease is then held until the work ends. Inside `onElected`, do not await it, but return.
   */
  async resign(): Promise<void> {
    this.#endTerm()
    await keptAlive(this.clock, this.#withinLimit(this.#leading, this.stopTimeout))
  }

  /** @internal */
  protected override async end(timeout: number): Promise<void> {
    this.#endTerm()
    await this.#withinLimit(this.running, timeout)
  }

  /**
   * The leader now; `undefined` if there is none, or the store does not know it. One read of the store. Rejects with a typed
   * error when the store does not answer within `operationTimeout`, and if the record is that of another recipe.
   */
  async leader(): Promise<Leader | undefined> {
    const { store, name, timeouts, clock } = this.#environment
    return leaderOf(await readLease(store, name, { timeout: timeouts.operationTimeout, clock }), name, store)
  }

  /**
   * Yields the leader, or `undefined` if there is none: first the present state, then each change once. Terms only grow,
   * and a term that ended does not return; a leader or a vacancy that lasted shortly may be left out. Ends when the signal
   * aborts, and with `stop()`.
   *
   * While the store does not answer, or the record is that of another recipe, the last state stays; the failure is an
   * `error` event. Throws if asking again is of no use: the store is closed, or refuses the credentials or the name.
   */
  async *observe(signal?: AbortSignal): AsyncGenerator<Leader | undefined, void, undefined> {
    const call = new FirstAbort(signal, this.stopping.signal)
    const endKeeping = this.keepAlive ? keepAlive(this.clock) : undefined
    try {
      yield* observeLeader(this.#environment, call)
    } finally {
      endKeeping?.()
      call.abort()
      call.forget()
    }
  }

  get #details(): LeaseErrorDetails {
    const { kind } = this.#environment.store
    return { leaseName: this.name, owner: this.owner, ...(kind === undefined ? {} : { store: kind }) }
  }

  protected override async act(): Promise<void> {
    while (!this.stopping.aborted && this.#environment.store.closed?.aborted !== true) {
      const duration = await this.#campaignOnce()
      if (duration > 0) await pauseUntil(this.clock, duration, this.stopping)
    }
    // A grant that cannot be freed expires; the failure of a release was reported.
    await this.#lease.close().catch(() => {})
  }

  /** Waits for a term, and leads. Resolves with the pause before the next campaign, in milliseconds. */
  async #campaignOnce(): Promise<number> {
    const lease = this.#lease
    const { metadata, resignPause = this.#usualPause } = this.#options
    let onLost = (_lost: LeaseLost): unknown => undefined
    try {
      // `metadata` is given even if it is empty: the metadata of the last leader must not stay.
      const options = {
        wait: Number.POSITIVE_INFINITY,
        signal: this.stopping.signal,
        metadata,
        keepAlive: this.keepAlive,
      }
      if (this.#isOfOther) await this.leader()
      if (!(await lease.acquire({ ...options, onLost: (lost) => onLost(lost) }))) return this.#usualPause
      this.#isOfOther = true
      await keepOtherRecipe('leader-election', lease, this.#details)
      this.#isOfOther = false
    } catch (error) {
      if (this.stopping.aborted) return this.#usualPause
      this.outage.onFailure('it cannot campaign', error)
      return this.#usualPause
    }
    const { fencingToken, signal } = lease
    // The lease was lost before the term began, or the election was stopped: the lease is closed then.
    if (fencingToken === undefined || this.stopping.aborted) return 0
    const term = new TermRun(heldOf(lease, { signal, fencingToken }))
    let endLeading = (): void => {}
    const leading = new Promise<void>((resolve) => {
      endLeading = resolve
    })
    onLost = (lost) => {
      term.lost = lost
      term.end(signal.reason)
      this.emit('lost', term.number, lost)
      // A self-fence ends the process unless the work ends in time.
      return leading
    }
    this.#term = term
    this.#leading = leading
    await this.#lead(term)
    this.#leading = undefined
    endLeading()
    return term.lost === undefined || term.lost.reason === 'max-hold' ? resignPause : 0
  }

  async #lead(term: TermRun): Promise<void> {
    this.emit('elected', term.number)
    const error = await term.carryOut(this.#options.onElected)
    this.#term = undefined
    if (error !== undefined) this.report(error)
    if (term.lost !== undefined) return
    await this.#lease.release().catch((error: unknown) => this.report(error))
    this.emit('resigned', term.number)
  }

  /** Long enough for every waiting candidate with the same settings to ask for the lease. */
  get #usualPause(): number {
    return 2 * Math.min(this.#lease.settings.timeouts.heartbeatInterval, LONGEST_POLL)
  }

  #endTerm(): void {
    const message = `election '${this.name}': term ${this.#term?.number} of '${this.owner}' was resigned`
    this.#term?.end(new LeaseLostError(message, { ...this.#details, reason: 'released' }))
  }

  /** Waits for the end of the term or the campaign. Rejects if the work has not ended in time. */
  async #withinLimit(ended: Promise<unknown> | undefined, timeout: number): Promise<void> {
    // A release that goes on after the work is no failure: it has a time limit of its own, and reports its own failure.
    if (ended === undefined || (await endsWithin(this.clock, timeout, ended)) || this.#term === undefined) return
    const message =
      `election '${this.name}': the work of term ${this.#term.number} has not ended within ${timeout} ms, and its ` +
      'lease is held until it does: let onElected return when its signal aborts, or raise stopTimeout'
    throw new LeaseTimeoutError(message, this.#details)
  }
}
