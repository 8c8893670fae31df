import {
  type AcquireOptions,
  createLease,
  type Health,
  healthOf,
  LeaseConflictError,
  type LeaseLost,
  LeaseLostError,
  type LeaseStore,
  LeaseTimeoutError,
  type Metadata,
  readLease,
  type StoreLease,
} from '@leasehold/core'
import {
  checkFault,
  checkMetadata,
  createGrantId,
  faultOfLimit,
  health,
  healthFrom,
  heldOf,
  keepAlive,
  keptAlive,
  shownValue,
} from '@leasehold/core/internal'
import { AbortableCall, type LeaseErrorDetails, type StoreCall } from '@leasehold/core/store'
import { checkOptionNames, systemRandom } from '@leasehold/core/store-kit'
import { FirstAbort } from '../first-abort.js'
import { type RecipeEvents, StartedRecipe, type StopOptions } from '../recipe.js'
import { leaseOptionsOf } from '../recipe-options.js'
import { keepOtherRecipe } from '../record-kind.js'
import { endsWithin, pauseUntil } from '../waiting.js'
import { Candidacy } from './candidacy.js'
import { type Candidate, candidatePlaces, checkCanTransfer, readyCandidates } from './candidates.js'
import { type Leader, leaderOf, ofLeader } from './leader.js'
import { type CheckedOptions, checkedOptions, type LeaderElectionOptions } from './leader-election-options.js'
import { type ObserverEnvironment, observeLeader } from './observe-leader.js'
import { prepared } from './preparation.js'
import { Succession, type TransferredTerm } from './succession.js'
import { publishElected, publishResigned, TermRun } from './term.js'

/** The events of a `LeaderElection`, and their arguments. A term that was `elected` ends as `resigned` or as `lost`. */
export interface LeaderEvents extends RecipeEvents {
  elected: [term: bigint]
  /** The term has ended: its work is over, and the lease was released. */
  resigned: [term: bigint]
  /** The lease was lost. Its work may go on until it notices. */
  lost: [term: bigint, lost: LeaseLost]
}

export interface ElectionStopOptions extends StopOptions {
  /**
   * A leader transfers its leadership to this owner, or to the best candidate, instead of freeing the name. Without such a
   * candidate, or if the transfer fails, it frees the name.
   */
  readonly transfer?: string | undefined
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
  readonly #metadata: Metadata
  readonly #candidacy: Candidacy | undefined
  readonly #succession: Succession
  /** Whether `stop` transfers the leadership: this process does not campaign again. */
  #isLeaving = false
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
    this.#metadata = checked.advertise ? ofLeader(owner, checked.metadata) : checked.metadata
    checkMetadata(this.#metadata, this.#details, store.limits.metadata)
    this.#succession = new Succession({
      lease: this.#lease,
      owner,
      metadata: checked.metadata,
      environment: this.#environment,
      details: this.#details,
    })
    if (checked.advertise) this.#candidacy = this.#createCandidacy(options)
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
   * See `healthOf`: unhealthy with its lease, while the work of a term goes on that is not valid any more, and when the store
   * has failed for longer than a ttl. `healthy` is more patient: it waits until another process may lead.
   */
  [health](): Health {
    const { isLeader, term, owner } = this
    const number = this.#term?.number
    const late = number !== undefined && !isLeader
    const work = `election '${this.name}': term ${number} is not valid any more, and its work goes on: end it when its signal aborts`
    const outage = this.outageAilment(this.#environment.timeouts.heartbeatTimeout)
    const reason = late ? work : (healthOf(this.#lease).reason ?? outage)
    return healthFrom(reason, { owner, isLeader, ...(term === undefined ? {} : { term: String(term) }) })
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

  /**
   * The candidates that are ready and wait, the best first. One listing of the store. Rejects with a `LeaseConfigurationError`
   * where the store cannot list or hand over leases, and with a typed error when it does not answer.
   */
  async candidates(): Promise<Candidate[]> {
    this.#checkCanTransfer()
    const ready = await readyCandidates(this.#environment)
    return ready.map(({ owner, rank }) => ({ owner, rank }))
  }

  /**
   * Transfers the leadership of this process to a candidate: to this owner, or to the best one (`'best'`). Aborts the signal of
   * the work, waits for the work to end, and hands the lease over in one write: the name is never free. Resolves with the new
   * leader, which may not know of it yet. If the new leader dies before it does, its grant expires after a ttl.
   *
   * Rejects with a `LeaseConflictError` if this process does not lead, or there is no such candidate: then it stays the leader,
   * unless the candidate has gone while the work ended. Rejects with a `LeaseTimeoutError` if the work has not ended within
   * `stopTimeout`: the lease is handed over when it ends. Also rejects if the term was lost, or the outcome of the write is
   * unknown. Inside `onElected`, do not await it, but return.
   */
  async transferTo(to: string): Promise<TransferredTerm> {
    checkFault(faultOfTarget('transferTo', to), this.#details)
    return await keptAlive(this.clock, this.#transferTo(to, this.stopTimeout))
  }

  /**
   * As for every recipe. `transfer`: a leader transfers its leadership first, as `transferTo` does, within the same time; the
   * name is freed if that is not possible.
   */
  override async stop(options: ElectionStopOptions = {}): Promise<void> {
    const { transfer, ...others } = Object(options) as ElectionStopOptions
    if (transfer === undefined) return await super.stop(options)
    checkFault(faultOfTarget('transfer', transfer), this.#details)
    checkOptionNames<StopOptions>('stop', others, { timeout: true }, this.#details)
    const { timeout = this.stopTimeout } = others
    checkFault(faultOfLimit('timeout', timeout), this.#details)
    const endsAt = this.clock.now() + timeout
    this.#isLeaving = true
    try {
      if (this.#term !== undefined) await keptAlive(this.clock, this.#transferTo(transfer, timeout))
    } catch (error) {
      // Without a candidate, or over a store that cannot transfer, the name is freed.
      if (!(error instanceof LeaseConflictError)) this.report(error)
    }
    await super.stop({ ...others, timeout: Math.max(0, endsAt - this.clock.now()) })
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
    const { prepare } = this.#options
    if (prepare !== undefined) await prepared(prepare, this.stopping, this.#environment)
    while (!this.stopping.aborted && this.#environment.store.closed?.aborted !== true) {
      const duration = await this.#campaignOnce()
      if (this.#isLeaving) await pauseUntil(this.clock, Number.POSITIVE_INFINITY, this.stopping)
      else if (duration > 0) await pauseUntil(this.clock, duration, this.stopping)
    }
    // First, so that no leader chooses a candidate that has gone.
    await this.#candidacy?.close()
    // A grant that cannot be freed expires; the failure of a release was reported.
    await this.#lease.close().catch(() => {})
  }

  /** Waits for a term, and leads. Resolves with the pause before the next campaign, in milliseconds. */
  async #campaignOnce(): Promise<number> {
    const lease = this.#lease
    const { resignPause = this.#usualPause } = this.#options
    const metadata = this.#metadata
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
      if (!(await this.#acquire({ ...options, onLost: (lost) => onLost(lost) }))) return this.#usualPause
      this.#isOfOther = true
      await keepOtherRecipe('leader-election', lease, this.#details)
      this.#isOfOther = false
      if (await this.#passOn()) return 0
      this.#candidacy?.withdrawSoon()
    } catch (error) {
      if (this.stopping.aborted) return this.#usualPause
      this.outage.onFailure('it cannot campaign', error)
      return this.#usualPause
    }
    const { fencingToken, signal } = lease
    // The lease was lost before the term began: a process that stood still may not know it yet. Or the election was stopped: the
    // lease is closed then.
    if (fencingToken === undefined || !lease.checkLease() || this.stopping.aborted) return 0
    const term = new TermRun(heldOf(lease, { signal, fencingToken }))
    let endLeading = (): void => {}
    const leading = new Promise<void>((resolve) => {
      endLeading = resolve
    })
    onLost = (lost) => {
      term.lost = lost
      term.end(signal.reason)
      this.emit('lost', term.number, lost)
      publishResigned(this, term.number, lost.reason)
      // A self-fence ends the process unless the work ends in time.
      return leading
    }
    this.#term = term
    this.#leading = leading
    const isTransferred = await this.#lead(term)
    this.#leading = undefined
    endLeading()
    // The name was not free: there is nobody to wait for, and the next leader may need a successor soon.
    if (isTransferred) return 0
    return term.lost === undefined || term.lost.reason === 'max-hold' ? resignPause : 0
  }

  /** Waits for the lease under a grant id of its own, which it shows to the leader. */
  async #acquire(options: AcquireOptions): Promise<boolean> {
    if (this.#candidacy === undefined) return await this.#lease.acquire(options)
    const grantId = createGrantId()
    const acquired = this.#lease.acquire({ ...options, grantId })
    this.#candidacy.offer(grantId)
    return await acquired
  }

  /** Does the work of a term. Resolves with whether the leadership was transferred. */
  async #lead(term: TermRun): Promise<boolean> {
    this.emit('elected', term.number)
    publishElected(this, term.number)
    const ended = new AbortableCall()
    if (this.#options.preempt) void this.#watchBetter(ended)
    const error = await term.carryOut(this.#options.onElected)
    ended.abort()
    this.#term = undefined
    if (error !== undefined) this.report(error)
    const { lost } = term
    // Before the name is free: the next leader must not hand it over to a candidate that does not wait.
    void this.#candidacy?.withdraw()
    const isTransferred = await this.#succession.complete(lost)
    if (lost !== undefined) return false
    if (!isTransferred) await this.#lease.release().catch((error: unknown) => this.report(error))
    this.emit('resigned', term.number)
    publishResigned(this, term.number, undefined)
    return isTransferred
  }

  async #transferTo(to: string, timeout: number): Promise<TransferredTerm> {
    this.#checkCanTransfer()
    const term = this.#term
    const canTransfer = (): boolean => this.#term === term && this.isLeader && !this.#succession.isUnderWay
    if (term === undefined || !canTransfer()) throw this.#notLeading()
    const candidate = await this.#succession.find(to)
    if (candidate === undefined) throw this.#succession.noCandidate(to)
    if (!canTransfer()) throw this.#notLeading()
    const outcome = await this.#succession.choose(to, candidate)
    this.#endTerm()
    await this.#withinLimit(this.#leading, timeout)
    return await outcome.promise
  }

  /** Passes the leadership on to a candidate of a higher rank, if there is one. */
  async #passOn(): Promise<boolean> {
    const candidacy = this.#candidacy
    if (candidacy === undefined) return false
    return await this.#succession.passOn(candidacy.rank, () => !this.stopping.aborted && this.isLeader)
  }

  /** Transfers the leadership to a candidate of a higher rank, when there is one. */
  async #watchBetter(ended: StoreCall): Promise<void> {
    let isFailing = false
    while (!ended.aborted) {
      await pauseUntil(this.clock, this.#environment.timeouts.heartbeatInterval, ended)
      if (ended.aborted || !this.isLeader || this.#succession.isUnderWay) continue
      try {
        const best = await this.#succession.find('best')
        if (!ended.aborted && best !== undefined && best.rank > (this.#candidacy?.rank ?? 0)) {
          await this.#transferTo('best', this.stopTimeout)
        }
        isFailing = false
      } catch (error) {
        if (!isFailing && !(error instanceof LeaseConflictError)) this.report(error)
        isFailing = true
      }
    }
  }

  #createCandidacy(options: LeaderElectionOptions): Candidacy {
    const { clock, owner, report } = this
    const { rank } = this.#options
    const own = { owner, maxHold: NO_LIMIT, parent: undefined, selfFence: undefined, clock }
    const leaseOptions = { ...leaseOptionsOf(options), ...own }
    const places = candidatePlaces(this.#environment, leaseOptions)
    const { heartbeatInterval } = this.#environment.timeouts
    return new Candidacy({ places, heartbeatInterval, rank, clock, report })
  }

  #checkCanTransfer(): void {
    checkCanTransfer(this.#environment.store, this.#details, this.#lease.settings.childGrace)
  }

  #notLeading(): LeaseConflictError {
    const state = this.#succession.isUnderWay ? 'transfers its leadership already' : 'does not lead'
    return new LeaseConflictError(`election '${this.name}': '${this.owner}' ${state}`, this.#details)
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

function faultOfTarget(option: string, to: unknown): string | undefined {
  if (typeof to === 'string' && to !== '') return undefined
  return `${option} must be the owner of a candidate or 'best', not ${shownValue(to)}`
}
