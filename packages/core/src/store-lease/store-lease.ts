import { tracers } from '../channels/channels.js'
import { AcquireCaller } from '../engine/acquire-caller.js'
import { isGone, type ReleaseResult } from '../engine/engine-effect.js'
import type { EventOf } from '../engine/engine-event.js'
import { heldIn } from '../engine/engine-state.js'
import { type EngineEnvironment, guardEnvironment } from '../engine/event-context.js'
import { clockWithoutTime, detailsOf, leaseClosed, nothingHeld, notIdle } from '../engine/failures.js'
import { type GrantEffect, onGrant } from '../engine/grant-effect.js'
import type { LeaseEngine } from '../engine/lease-engine.js'
import { type OutageEffect, outageMessage } from '../engine/outage.js'
import { LeaseFence } from '../engine/self-fence.js'
import type { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseLost } from '../errors/lease-lost.js'
import { type LeaseLostError, lossError } from '../errors/lease-lost-error.js'
import { shownText } from '../errors/shown-value.js'
import {
  type AcquireOptions,
  acquireOptionsError,
  checkedReleaseOptions,
  type ReleaseOptions,
} from '../lease/acquire-options.js'
import { type Health, health, healthFrom, leaseAilment } from '../lease/health.js'
import type { Held, LeasedWork } from '../lease/held.js'
import { Lease } from '../lease/lease.js'
import type { LeaseRun } from '../lease/lease-run.js'
import { LeaseRuns } from '../lease/lease-runs.js'
import { workContext } from '../lease/work-context.js'
import type { DurationAdvice } from '../objective/duration-advice.js'
import { LeaseFamily } from '../parent/lease-family.js'
import { asParent, type ParentLease, type ParentView } from '../parent/parent.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { checkStoreLimits } from '../settings/store-limits.js'
import { type Grant, type LeaseRecord, type Metadata, withJSON } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { leastWait } from '../store/one-look.js'
import type { Clock } from '../time/clock.js'
import { Deferred } from '../time/deferred.js'
import { keptAlive } from '../time/keep-alive.js'
import { defaultLogger, type Logger, logSafely } from '../user-code/logger.js'
import { createEngine, keeperOf } from './create-engine.js'
import { Departure } from './departure.js'
import { isClaimPublished, type PublishedGrant, publishClaim, publishGrant, publishRun } from './grant-messages.js'
import { GrantUsers } from './grant-users.js'
import {
  checkCanChange,
  checkCanChangeToWaiter,
  checkedTarget,
  fromHandOff,
  type HandOff,
  type HandOffTo,
  toHandOff,
} from './hand-off.js'
import { LeaseEventEmitter, type LeaseEvents } from './lease-events.js'
import { heldLong, longestSilentHold } from './long-hold.js'
import { checkUpdate, MetadataUpdates } from './metadata-updates.js'
import { readHolder } from './operations.js'
import { checkEnvironment, type StoreLeaseEnvironment } from './store-lease-environment.js'

/** In the global registry, so that all copies of this package share it. */
const mark = Symbol.for('@leasehold/core/StoreLease')

/** Not declared to users, who should ask the lease. */
interface WithStore {
  readonly store: LeaseStore
}

/** Whether a lease is a `StoreLease`, or one of a subclass, of any copy of this package. */
export function isStoreLease(lease: Lease): lease is StoreLease & WithStore {
  return mark in lease
}

/** Whether a lease is a `StoreLease` and none of a subclass, which may do more than its engine does. */
export function isPlainStoreLease(lease: Lease): lease is StoreLease & WithStore {
  return Object.hasOwn(Object.getPrototypeOf(lease), mark)
}

/**
 * A lease over a `LeaseStore`, kept alive by heartbeats. The holder's validity ends on its own clock before anyone else can
 * be granted the name: https://github.com/leasehold/leasehold/blob/main/docs/internals/guarantees.md
 */
export class StoreLease extends Lease {
  readonly #store: LeaseStore
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #engine: LeaseEngine
  /** When to warn of a grant that is held for long. */
  #warnAt = Number.POSITIVE_INFINITY
  readonly #users = new GrantUsers()
  #previous: Metadata | undefined
  #updates: MetadataUpdates | undefined
  /** The renewal by hand that is under way: concurrent callers share it. */
  #renewal: Deferred<boolean> | undefined
  #emitter: LeaseEventEmitter | undefined
  #departure: Departure | undefined
  #closed = false
  #runs: LeaseRuns | undefined
  /** Its parent, and its children: made when there is one. */
  #family: LeaseFamily | undefined
  readonly #fence: LeaseFence | undefined
  /** The grant as the channels know it. */
  #published: PublishedGrant | undefined
  /** How many times the claims that wait for a thread were given up. */
  #abandoned = 0

  /** Throws a `LeaseConfigurationError` for an unknown option, or where the store's limits do not admit the settings. */
  constructor(settings: LeaseSettings, store: LeaseStore, environment: StoreLeaseEnvironment = {}) {
    super(settings)
    checkStoreLimits(settings, store)
    checkEnvironment(environment)
    this.#store = store
    this.#logger = environment.logger ?? defaultLogger
    const guarded = guardEnvironment(environment, (error) => this.#report(error))
    this.#clock = guarded.clock
    if (environment.parent !== undefined) this.#family = this.#createFamily(environment.parent, guarded)
    const parented = this.#family?.around(guarded) ?? guarded
    const workUnder: EngineEnvironment['workUnder'] = (grantId) =>
      this.#users.workUnder(grantId, this.#runs?.under({ grantId }))
    const setDeadline: EngineEnvironment['setDeadline'] = (validUntil) => this.#fence?.arm(validUntil)
    const fenced = settings.selfFence === undefined ? parented : { ...parented, workUnder, setDeadline }
    this.#engine = createEngine(settings, store, fenced, this)
    this.#fence = LeaseFence.of(settings, this.#engine.rules, guarded, () => {
      this.#log('error', 'the thread of selfFence has ended')
      this.#engine.dispatch({ type: 'end', reason: 'closed' })
    })
  }

  /** @internal */
  get [mark](): true {
    return true
  }

  /** @internal */
  get store(): LeaseStore {
    return this.#store
  }

  /** Where the lease is in its life cycle. `held` and `jeopardy` last until the loss is reported: use `checkLease`. */
  get state(): 'idle' | 'acquiring' | 'held' | 'jeopardy' | 'releasing' {
    const { phase } = this.#engine.state
    return phase === 'idle' && !this.#engine.isQuiet ? 'acquiring' : phase
  }

  /** The validity left, in milliseconds; 0 when not valid, `Infinity` for a lease that does not expire. */
  get remaining(): number {
    return Math.max(0, this.validUntil - this.#clock.now())
  }

  /**
   * The durations that the `objective` has chosen, and whether they keep it; `undefined` without an objective. A new ttl
   * counts from the next grant on.
   */
  get advice(): DurationAdvice | undefined {
    return this.#engine.advice
  }

  /** When the validity ends unless a heartbeat renews it, in milliseconds on the lease's clock; 0 while not held. */
  override get validUntil(): number {
    const held = heldIn(this.#engine.state)
    if (held === undefined) return 0
    return this.#family === undefined
      ? held.validUntil
      : Math.min(held.validUntil, this.#clock.now() + this.#family.cover)
  }

  override checkLease(): boolean {
    const held = heldIn(this.#engine.state)
    if (held === undefined || this.#clock.now() >= held.validUntil) return false
    return this.#family === undefined || this.#family.cover > 0
  }

  override get fencingToken(): bigint | undefined {
    return this.grant?.fencingToken
  }

  override get signal(): AbortSignal {
    if (this.grant === undefined) return AbortSignal.abort(this.#lossOf({ reason: 'expired' }))
    return this.#users.signal
  }

  override acquire(options: AcquireOptions = noOptions): Promise<boolean> {
    const error = this.#optionsError(options)
    if (error !== undefined) return Promise.reject(error)
    if (!this.checkLease()) return this.#claim(options, undefined)
    this.#users.keep(options.onLost)
    return Promise.resolve(true)
  }

  override [health](): Health {
    const { name } = this.settings
    const { state, remaining, fencingToken } = this
    const held = heldIn(this.#engine.state)
    const isValid = this.checkLease()
    const facts = { name, isHeld: held !== undefined, isValid, overdue: this.#users.overdue }
    const jeopardy = held?.phase === 'jeopardy' ? { cause: held.failure, remaining } : undefined
    const token = fencingToken === undefined ? {} : { fencingToken: String(fencingToken) }
    const details = { name, state, isValid, remaining: Number.isFinite(remaining) ? remaining : 'infinite', ...token }
    return healthFrom(leaseAilment({ ...facts, jeopardy }), details)
  }

  /** The metadata that the last holder left. `undefined` while nothing is held, or if the store kept none. */
  get previous(): Metadata | undefined {
    return this.grant === undefined ? undefined : this.#previous
  }

  /** The record of the current holder; `undefined` where the name is free. Rejects when the store does not answer. */
  async holder(): Promise<LeaseRecord | undefined> {
    return await readHolder(this.#store, this.settings, this.#clock)
  }

  /**
   * Replaces the metadata in the record with a heartbeat, repeated until the store confirms it or the grant ends. Resolves
   * `true`: written. `false`: the lease is not held, or it ended first. Rejects if the store refuses the metadata.
   *
   * It writes under the grant that is held now. In a run, check `signal.aborted` first: after a loss, a later run of the same
   * object may hold the lease.
   */
  async update(metadata: Metadata): Promise<boolean> {
    checkUpdate(metadata, this.#store, this.#details)
    if (!this.checkLease()) return false
    this.#updates ??= new MetadataUpdates((next) => this.#engine.dispatch({ type: 'update', metadata: next }))
    return await keptAlive(this.#clock, this.#updates.add({ ...metadata }))
  }

  /**
   * Renews the grant now, with any strategy. Concurrent calls share one operation, also with a heartbeat or an `update` that
   * is under way. Resolves `true`: renewed. `false`: not held, or certainly lost (then `onLost` has been called). Rejects
   * with a typed error when the outcome is unknown: the lease stays held while it is valid, so try again.
   */
  async renew(): Promise<boolean> {
    if (this.grant === undefined) return false
    const renewal = this.#renewal ?? new Deferred<boolean>()
    if (this.#renewal === undefined) {
      this.#renewal = renewal
      // Its outcome may come before this returns.
      this.#engine.dispatch({ type: 'renew' })
    }
    return await keptAlive(this.#clock, renewal.promise)
  }

  /** As `Lease.release`. `metadata` is left behind in the record, for the next holder (`previous`) and for readers. */
  override async release(options: ReleaseOptions = noOptions): Promise<boolean> {
    const { metadata } = checkedReleaseOptions(options, this.#store.limits, this.#details)
    this.#runs?.onReleased()
    if (this.grant !== undefined) return isGone(await this.#leave({ type: 'release', metadata }))
    this.#family?.abandon()
    this.#abandoned += 1
    // A release or an attempt may be under way, or a grant may be left in the store.
    const left = this.#departure?.underWay
    await keptAlive(this.#clock, this.#engine.abandon())
    return left === undefined || isGone(await left)
  }

  /**
   * See `Lease.run`. The lease also stays held if `acquire()` is called meanwhile. A `handOff()` from outside ends the run.
   */
  override async run<T>(work: LeasedWork<T>, options: AcquireOptions = noOptions): Promise<T> {
    this.#checkOptions(options)
    this.#runs ??= new LeaseRuns({
      clock: this.#clock,
      aborts: this.#engine.group.aborts,
      details: this.#details,
      currentGrant: () => this.grant,
      isValid: () => this.checkLease(),
      isKept: () => this.#users.isKept,
      claim: (claimed, run) => this.#claim(claimed, undefined, run),
      // The store is asked if its refusal did not name the holder.
      holder: async () => (this.#engine.refusedFor ?? (await this.holder().catch(() => undefined))?.owner) || undefined,
      leastWait: () => leastWait(this.#store, this.#engine.rules.ttl),
      release: () => this.release(),
      publish: (work) => (tracers.run.isOn ? publishRun(this, work) : work()),
      report: (error) => this.#report(error),
    })
    const running = this.#runs.run(this, work as (held: Held) => Promise<T>, options)
    return await keptAlive(this.#clock, running, options.keepAlive)
  }

  /**
   * Passes the lease on, to be adopted by another lease of the same name: the name is never free in between, and from now
   * on this owner can no longer write. If nobody adopts it, it expires. Rejects with a `LeaseConflictError` if nothing is
   * held, and with a `LeaseLostError` if it was lost already. Also rejects if the outcome is unknown: the lease is then
   * freed in the background.
   *
   * With `grantId`, passes it on to the waiter that asks under this id (`acquire({ wait, grantId })`), which holds the lease
   * with its next request and needs no `adopt`. If the outcome is unknown, the waiter may hold it.
   */
  async handOff(to: HandOffTo = {}): Promise<HandOff> {
    const target = checkedTarget(to, this.settings, this.#details)
    checkCanChange(this.#store, this.settings, this.#details)
    if (target.isWaiter === true) checkCanChangeToWaiter(this.#store, this.#details)
    if (!this.checkLease()) throw nothingHeld(this.#details)
    if (!workContext.includes(this)) this.#runs?.onReleased()
    const left = this.#leave({ type: 'hand-off', to: target })
    // The validity was over before the request was sent, and the loss was reported instead.
    if (this.#engine.state.phase !== 'releasing') this.#endLeaving({ ended: 'held' })
    const result = await left
    if (result.ended === 'handed-off') return toHandOff(result.grant)
    throw result.ended === 'unknown' ? result.error : this.#lossOf({ reason: 'taken' })
  }

  /**
   * Takes over a lease that was handed off, with a fencing token and a `heartbeatTimeout` of its own. `false`: it is gone,
   * or was adopted by another. Rejects with a `LeaseConfigurationError` where it is meant for another name or owner, and
   * with a `LeaseConflictError` where its fencing token was never that of the record. Another `heartbeatTimeout` than that of
   * the hand-off takes one more request; until the store has confirmed it, the lease is valid for the shorter of the two.
   */
  async adopt(handOff: HandOff, options: AcquireOptions = {}): Promise<boolean> {
    this.#checkOptions(options)
    const grant = fromHandOff(handOff, this.settings, this.#store, this.#details)
    if (!this.#engine.isQuiet) throw notIdle(this.state, this.#details)
    return await this.#claim({ ...options, wait: 0 }, grant)
  }

  /** Ends the lease for good: a holder is notified (`closed`), its grant is released, and later claims are rejected. */
  async close(): Promise<void> {
    this.#closed = true
    this.#engine.dispatch({ type: 'end', reason: 'closed' })
    this.#runs?.close(leaseClosed(this.#engine.rules), this.#lossOf({ reason: 'closed' }))
    await this.release()
  }

  on<E extends keyof LeaseEvents>(event: E, listener: (...args: LeaseEvents[E]) => void): this {
    this.#events.change('on', event, listener)
    return this
  }

  once<E extends keyof LeaseEvents>(event: E, listener: (...args: LeaseEvents[E]) => void): this {
    this.#events.change('once', event, listener)
    return this
  }

  off<E extends keyof LeaseEvents>(event: E, listener: (...args: LeaseEvents[E]) => void): this {
    this.#emitter?.change('off', event, listener)
    return this
  }

  get #events(): LeaseEventEmitter {
    this.#emitter ??= new LeaseEventEmitter(
      (error) => this.#report(error),
      (error) => this.#log('error', 'an error in the background', error),
    )
    return this.#emitter
  }

  /** @internal */
  [asParent](): ParentView {
    this.#family ??= this.#createFamily()
    return this.#family
  }

  /** The grant, until its loss is reported: for subclasses that protect a resource by conditions of the store. */
  protected get grant(): Grant | undefined {
    return heldIn(this.#engine.state)?.grant
  }

  get #details(): ReturnType<typeof detailsOf> {
    return detailsOf(this.#engine.rules)
  }

  #claim(options: AcquireOptions, adopted: Grant | undefined, run?: LeaseRun): Promise<boolean> {
    if (!isClaimPublished()) return this.#claimNow(options, adopted, run)
    return publishClaim(this, options, () => this.#claimNow(options, adopted, run))
  }

  #claimNow(options: AcquireOptions, adopted: Grant | undefined, run?: LeaseRun): Promise<boolean> {
    const { wait = 0, signal } = options
    if (this.#closed) return Promise.reject(leaseClosed(this.#engine.rules))
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    const now = this.#clock.now()
    if (now === Number.POSITIVE_INFINITY) return Promise.reject(clockWithoutTime(this.#engine.rules))
    const claimAgain = (): Promise<boolean> => this.#claimNow(options, adopted, run)
    const starting = this.#fence?.start() ?? keeperOf(this.#store)?.start()
    const entry = starting ? this.#claimAfter(starting, claimAgain) : this.#family?.enter(claimAgain, signal)
    if (entry !== undefined) return keptAlive(this.#clock, entry, options.keepAlive)
    const caller = new AcquireCaller(options, wait === 0 ? Number.NEGATIVE_INFINITY : now + wait, this.#clock, run)
    this.#engine.join(caller, adopted)
    return caller.promise
  }

  /** A claim waits until a thread has started; a release meanwhile gives it up. */
  async #claimAfter(starting: Promise<void>, claim: () => Promise<boolean>): Promise<boolean> {
    const abandoned = this.#abandoned
    await starting
    return abandoned === this.#abandoned && (await claim())
  }

  #checkOptions(options: unknown): void {
    const error = this.#optionsError(options)
    if (error !== undefined) throw error
  }

  #optionsError(options: unknown): LeaseConfigurationError | undefined {
    return acquireOptionsError(options, this.#store, this.#details)
  }

  /** Begins a release or a hand-off: from now on no loss is reported. */
  #leave(how: EventOf<'release' | 'hand-off'>): Promise<ReleaseResult> {
    this.#users.leave()
    this.#fence?.disarm()
    this.#updates?.end()
    this.#takeRenewal()?.resolve(false)
    this.#departure ??= new Departure((event) => this.#engine.dispatch(event), this.#clock)
    return this.#departure.begin(how, this.grant?.grantId, this.#family)
  }

  #endLeaving(result: ReleaseResult): void {
    this.#departure?.end(result)
    this.#users.end()
  }

  /** @internal */
  [onGrant](effect: GrantEffect): void {
    switch (effect.type) {
      case 'granted':
        this.#armFence()
        this.#previous = effect.previous
        this.#warnAt = this.#engine.now + longestSilentHold(this.settings)
        this.#users.begin(effect.grant, effect.callers)
        this.#publish(effect)
        this.#emitter?.emit('acquired', withJSON(effect.grant))
        return
      case 'renewed':
        this.#armFence()
        if (effect.latency !== undefined) this.#takeRenewal()?.resolve(true)
        this.#warnOfLongHold()
        this.#publish(effect)
        this.#emitter?.emit('renewed', withJSON(effect.grant))
        return
      case 'updated':
        this.#updates?.onUpdated(effect.error)
        return
      case 'recovered':
        this.#publish(effect)
        this.#emitter?.emit('recovered', withJSON(effect.grant))
        return
      case 'jeopardy':
        // A heartbeat that is only late, without a latency, is still under way.
        if (effect.latency !== undefined) this.#takeRenewal()?.reject(effect.cause)
        this.#log('debug', 'a heartbeat failed or is late', effect.cause)
        this.#publish(effect)
        if (effect.begins) this.#emitter?.emit('jeopardy', { cause: effect.cause, remaining: this.remaining })
        return
      case 'lost':
        this.#notifyLoss(effect)
        return
      case 'fault':
        this.#report(effect.error)
        return
      case 'unreachable':
      case 'reachable':
        this.#onOutage(effect)
        return
      case 'advised':
        this.#onAdvised(effect)
        return
      case 'released':
        this.#publish(effect)
        if (effect.result.ended !== 'unknown') this.#emitter?.emit('released')
        this.#endLeaving(effect.result)
    }
  }

  #publish(effect: GrantEffect): void {
    this.#published = publishGrant(this, effect, this.#published, this.#engine)
  }

  #notifyLoss(effect: Extract<GrantEffect, { type: 'lost' }>): void {
    const { grant, lost } = effect
    this.#family?.lose()
    this.#updates?.end()
    const run = this.#runs?.under(grant)
    const work = this.#users.lose(lost, this.#lossOf(lost), run, (failure) => this.#report(failure))
    this.#publish(effect)
    this.#emitter?.emit('lost', lost)
    this.#takeRenewal()?.resolve(false)
    this.#fence?.acknowledge(work)
  }

  #takeRenewal(): Deferred<boolean> | undefined {
    const renewal = this.#renewal
    this.#renewal = undefined
    return renewal
  }

  #onOutage(effect: OutageEffect): void {
    if (effect.isLogged) this.#log('warn', outageMessage(effect))
    if (effect.type === 'reachable') this.#emitter?.emit('reachable')
    else if (effect.begins) this.#emitter?.emit('unreachable', { cause: effect.error })
  }

  #onAdvised({ advice, isLogged }: Extract<GrantEffect, { type: 'advised' }>): void {
    if (isLogged && !advice.kept) this.#log('warn', `the objective cannot be kept: ${advice.reason}`)
    else if (isLogged) this.#log('info', 'the objective can be kept again')
    this.#emitter?.emit('advised', advice)
  }

  /** Warns once for each grant. */
  #warnOfLongHold(): void {
    if (this.#clock.now() < this.#warnAt) return
    this.#warnAt = Number.POSITIVE_INFINITY
    this.#log('warn', heldLong)
  }

  #armFence(): void {
    const held = heldIn(this.#engine.state)
    if (held !== undefined) this.#fence?.arm(held.validUntil)
  }

  #lossOf(lost: LeaseLost): LeaseLostError {
    return lossError(lost, this.#details)
  }

  #report(error: unknown): void {
    if (this.#emitter?.emit('error', error) !== true) this.#log('error', 'an error in the background', error)
  }

  #log(level: keyof Logger, message: string, details?: unknown): void {
    const { name, owner } = this.settings
    logSafely(this.#logger, level, `lease '${shownText(name)}' of '${shownText(owner)}': ${message}`, details)
  }

  #createFamily(parent?: ParentLease, environment?: EngineEnvironment): LeaseFamily {
    const [grant, onParentLost] = [() => this.grant, () => this.#engine.onParentLost()]
    return new LeaseFamily({ lease: this, store: this.#store, grant, onParentLost }, parent, environment)
  }
}

const noOptions: AcquireOptions = {}
