import { SharedCallers } from '../lease/shared-callers.js'
import type { DurationAdvice } from '../objective/duration-advice.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { createGrantId } from '../store/grant-id.js'
import { normalGuid } from '../store/guid.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { AcquireCaller } from './acquire-caller.js'
import { armWithin } from './arm-within.js'
import type { EngineEffect, StoreRequest } from './engine-effect.js'
import { type AnswerEvent, confirmed, crowded, type EngineEvent, tick } from './engine-event.js'
import { decider } from './engine-recorder.js'
import { awaits, type EngineState, hasUsualLimit, heldIn, isHeartbeatDue, limitOf, wakeAt } from './engine-state.js'
import { EngineContext, type EngineEnvironment } from './event-context.js'
import { keeperEnded, ownLeftover, parentLost, storeClosed } from './failures.js'
import { grantValidity } from './from-held.js'
import { GrantCleanup } from './grant-cleanup.js'
import { type GrantListener, onGrant } from './grant-effect.js'
import type { KeptGrant, KeptLease } from './grant-keeper.js'
import { broken, freed } from './grant-origin.js'
import { watchGrant } from './grant-watch.js'
import { keptState } from './kept-state.js'
import type { GroupMember } from './lease-group.js'
import { ObjectiveGuide } from './objective-guide.js'
import { askedNotice } from './preemption.js'
import type { BatchCaller } from './renewal-batch.js'
import { answerOf, failureOf, faultOfAnswer, isRenewed } from './store-answers.js'
import { type AnswerListener, StoreCaller } from './store-caller.js'
import { watchForTurn, withdrawPlace } from './turn-watch.js'

/** How many hand-overs are remembered: a late answer must not take the grant of the waiter back. */
const MOST_PASSED = 8
const nonePassed: readonly string[] = []

/**
 * Runs the transition function of one lease on real parts: the clock's timer, the store's calls, the callers that
 * wait. One operation is in flight at a time, and every answer bears the number of the call it is for.
 */
export class LeaseEngine extends EngineContext implements BatchCaller, AnswerListener, GroupMember, KeptLease {
  wakesAt = Number.POSITIVE_INFINITY
  place = 0
  readonly #store: LeaseStore
  /** The grant ids of the waiters to which the lease was handed over last. */
  #passed: readonly string[] = nonePassed
  readonly #lease: GrantListener
  readonly #calls: StoreCaller
  readonly #callers = new SharedCallers<AcquireCaller>(this)
  /** For a lease with an objective. */
  readonly #guide: ObjectiveGuide | undefined
  readonly #decide = decider(this.environment, this.rules, () => this.#state)
  #adopted: Grant | undefined
  #state: EngineState = { phase: 'idle', op: 0 }
  #stopTurnWatch: (() => void) | undefined
  #stopGrantWatch: (() => void) | undefined
  #cleanup: GrantCleanup | undefined
  #kept: KeptGrant | undefined
  /**
   * A refused attempt first takes back a grant of our own late request; only once, because it may not help. `undefined`: not
   * begun in this attempt.
   */
  #reclaim: 'under-way' | 'ended' | undefined
  /** Within how many milliseconds the timer will be brought up to date; `undefined` while that is not planned. */
  #toBeArmed: number | undefined

  constructor(settings: LeaseSettings, store: LeaseStore, environment: EngineEnvironment, lease: GrantListener) {
    super(settings, store, environment)
    this.#store = store
    this.#lease = lease
    this.#calls = new StoreCaller(this, store)
    this.#guide = ObjectiveGuide.of(settings, store, this.group)
    if (this.#guide !== undefined) this.rules = this.#guide.rulesAt(environment.clock.now())
  }

  /** The end of the validity is read from the keeper too: this thread may have been blocked. */
  get state(): EngineState {
    return this.#kept === undefined ? this.#state : keptState(this.#state, this.#kept, this.rules)
  }

  /** What the objective has chosen; `undefined` without one. */
  get advice(): DurationAdvice | undefined {
    return this.#guide?.advice
  }

  get isUnresponsive(): boolean {
    return this.#kept?.isUnresponsive === true
  }

  get unresponsiveAfter(): number | undefined {
    return this.settings.unresponsiveAfter
  }

  get deadline(): number {
    return this.#callers.deadline
  }

  /** Whether nothing is held and no caller waits. */
  get isQuiet(): boolean {
    return this.#state.phase === 'idle' && this.#callers.isEmpty
  }

  /** Lets a caller share the attempt under way, or begins one. */
  join(caller: AcquireCaller, adopted?: Grant): void {
    if (this.group.isClosed) {
      caller.reject(storeClosed(this.rules))
      return
    }
    this.#callers.add(caller, this.group.aborts)
    this.#engage(true)
    const { phase } = this.#state
    if (phase === 'idle') {
      // A caller that comes before an adoption has begun shares it.
      this.#adopted ??= adopted
      this.#begin()
    } else if (phase === 'acquiring') this.#onJoined(caller)
    // The validity of the grant is over and no timer has run yet. The loss is reported in a microtask, because the grant
    // may be so new that its caller has not seen the outcome yet.
    else if (phase !== 'releasing') queueMicrotask(() => this.dispatch(tick))
  }

  /** Gives up the attempt: its last caller has given up. */
  abort(): void {
    this.dispatch({ type: 'cancel' })
  }

  /**
   * Gives up the attempt and frees a grant that it may have produced. Without an attempt: frees all that earlier grants, and
   * requests that were given up, may have left in the store. Rejects when the outcome is unknown.
   */
  async abandon(): Promise<void> {
    if (this.isQuiet) return await this.#cleanup?.settleWithStrays()
    const callers = this.#callers.takeAll()
    this.abort()
    try {
      await this.#cleanup?.settle()
      for (const caller of callers) caller.resolve(false)
    } catch (error) {
      for (const caller of callers) caller.reject(error)
      throw error
    }
  }

  dispatch(event: EngineEvent): void {
    this.#step(event)
    this.#armSoon()
  }

  #step(event: EngineEvent): void {
    const isOfTime = event.type === 'tick' || event.type === 'crowded'
    if (this.#kept === undefined || this.#catchUp(this.#kept) || !isOfTime) this.#apply(event)
  }

  /**
   * Takes in what the keeper has done meanwhile. Returns false while the keeper says that the store has refused the grant,
   * but the answer with the reason is still on its way: it would be too early to call the grant expired.
   */
  #catchUp(kept: KeptGrant): boolean {
    const held = heldIn(this.#state)
    if (held === undefined) return true
    if (kept.refusal !== undefined) this.#apply({ type: 'kept-refused', outcome: kept.refusal })
    const now = this.environment.clock.now()
    if (kept.isOver) return kept.refusal !== undefined || now >= held.validUntil + this.rules.operationTimeout
    // The answer to a heartbeat of our own may be on its way: it is awaited, except at the end of the validity.
    const sentAt = now >= held.validUntil ? kept.confirmedAt : kept.ownAt
    if (sentAt > held.confirmedAt) this.#apply({ type: 'kept', sentAt })
    return true
  }

  #apply(event: EngineEvent): void {
    const before = this.#state.phase
    this.now = this.environment.clock.now()
    const { state, effects } = this.#decide(this.#state, event, this)
    this.#guide?.onTransition(this, this.#state, state, effects)
    this.#state = state
    if (this.#kept !== undefined && heldIn(this.#state) === undefined) this.#endKeeping()
    for (const effect of effects) this.#perform(effect)
    const after = this.#state.phase
    if (this.#stopGrantWatch !== undefined && after !== 'held' && after !== 'jeopardy') this.#endGrantWatch()
    if (before === 'acquiring' || after === 'acquiring') this.#watchForTurn()
    else if (after === 'idle' && before !== 'idle' && !this.#callers.isEmpty) this.#begin()
    if (this.isQuiet) {
      this.#engage(false)
      this.group.outage.end(this)
    }
  }

  onStoreClosed(): void {
    const error = storeClosed(this.rules)
    this.dispatch({ type: 'store-closed', error })
    this.#rejectAll(error)
  }

  onKeptRefused(): void {
    this.dispatch(tick)
  }

  onKeeperEnded(cause: unknown): void {
    const error = keeperEnded(this.rules, cause)
    this.dispatch({ type: 'store-closed', error, cause: error })
    this.#rejectAll(error)
  }

  async end(): Promise<void> {
    this.dispatch({ type: 'end', reason: 'closed' })
    await this.abandon()
  }

  /** The grant of the parent is over: nothing may be held or acquired under it. */
  onParentLost(): void {
    this.dispatch(tick)
    this.#rejectAll(parentLost(this.rules))
  }

  onAnswer(answer: AnswerEvent): void {
    if (answer.type === 'acquire-answer' && answer.outcome.granted && !awaits(this.#state, answer.op)) {
      this.#onStaleGrant(answer.outcome.grant)
    }
    this.dispatch(answer)
  }

  onRenewed(op: number, answer: unknown): void {
    const isConfirmed = awaits(this.#state, op) && isRenewed(answer)
    this.#step(isConfirmed ? confirmed : answerOf(this.rules, op, 'renew', answer))
    this.arm(this.now)
  }

  onRenewalFailed(op: number, error: unknown): void {
    this.#step(failureOf(this.rules, op, 'renew', error))
    this.arm(this.now)
  }

  /** Brings the timer up to date. A heartbeat that is due already, because the event loop is busy, is sent now. */
  arm(now: number): void {
    this.#toBeArmed = undefined
    const isRefused = this.#kept?.isOver === true
    if (isHeartbeatDue(this.#state, now) && !isRefused) this.onTimer()
    else this.group.wake(this, this.#nextLook(), this.environment.clock)
  }

  #armSoon(): void {
    const within = armWithin(this.#state, this)
    const isSoon = this.#toBeArmed !== undefined && this.#toBeArmed <= within
    if (isSoon || Math.ceil(this.#nextLook()) === this.wakesAt) return
    this.#toBeArmed = within
    this.group.armSoon(this, within)
  }

  #nextLook(): number {
    // The batch has a timer for the time limit.
    if (this.group.renewals && hasUsualLimit(this.#state, this.rules.operationTimeout)) return Number.POSITIVE_INFINITY
    const held = heldIn(this.#state)
    // The reason of a refusal is on its way: it comes by a message.
    if (held !== undefined && this.#kept?.isOver === true) return held.validUntil + this.rules.operationTimeout
    const at = wakeAt(this.#state)
    const waits = this.#state.phase === 'acquiring' && this.#state.call === undefined
    return waits ? Math.min(at, this.deadline) : at
  }

  onTimer(): void {
    const state = this.#state
    if (state.phase === 'acquiring' && state.call === undefined) {
      this.#endWaits(this.environment.clock.now(), state.failure)
    }
    const isDelayed = this.group.delays(this, this.#state, this.environment.clock)
    this.#step(isDelayed ? crowded : tick)
    if (!isDelayed) this.arm(this.now)
  }

  /** Rejects all callers, also those that came while another grant was being released or taken back. */
  #rejectAll(error: unknown): void {
    for (const caller of this.#callers.takeAll()) caller.reject(error)
    if (this.isQuiet) this.#engage(false)
  }

  /** Says whether the lease is held or asked for, so that it has to know when its store is closed, or its parent lost. */
  #engage(isEngaged: boolean): void {
    this.group.engage(this, isEngaged)
    const { parent, keeper } = this.environment
    keeper?.engage(this, isEngaged)
    if (isEngaged) parent?.join()
    else parent?.leave()
  }

  /** Begins an attempt for the callers. Tries first to give back what earlier grants have left in the store. */
  #begin(): void {
    if (this.#cleanup?.isEmpty === false) {
      const goOn = (): void => this.#sendClaim()
      this.#cleanup.settle().then(goOn, goOn)
    } else this.#sendClaim()
  }

  #sendClaim(): void {
    const adopted = this.#adopted
    this.#adopted = undefined
    if (this.#callers.isEmpty || this.#state.phase !== 'idle') return
    if (this.#reclaim === 'ended') this.#reclaim = undefined
    this.forgetHolder(adopted)
    this.environment.parent?.bind()
    this.#guide?.onClaim(this, this.#lease, this.environment.clock.now())
    const given = normalGuid(this.#callers.all[0]?.options.grantId)
    const { waits } = this.#callers
    const offered = given !== undefined && waits
    const queue = this.rules.ordered && waits
    this.dispatch({ type: 'acquire', grantId: given ?? createGrantId(), queue, adopted, offered })
  }

  #onJoined({ waits, options: { preempt } }: AcquireCaller): void {
    if (waits && this.rules.ordered) this.dispatch({ type: 'queue' })
    if (waits && preempt === undefined) return
    // A caller that tries once gets the answer to a request of its own, and one that preempts has to see the holder.
    if (this.#state.phase === 'acquiring' && this.#state.call === undefined) this.dispatch({ type: 'turn' })
  }

  #perform(effect: EngineEffect): void {
    switch (effect.type) {
      case 'call':
        this.#call(effect.op, effect.request)
        return
      case 'abort':
        this.#calls.abort()
        return
      case 'cleanup':
        this.#takeBack(effect.grantId, effect.grant, effect.hasStray)
        return
      case 'passed':
        this.#passed = [...this.#passed.slice(1 - MOST_PASSED), effect.grantId]
        return
      case 'withdraw':
        withdrawPlace(this.rules, this.#store, this.environment.clock, effect.grantId)
        return
      case 'granted':
        this.#onGranted(effect.grant, effect.previous)
        return
      case 'refused':
        this.#onRefused(effect.holder)
        return
      case 'unbroken':
        for (const caller of this.#callers.all) if (caller.judged?.breaks) this.#reject(caller, effect.error)
        return
      case 'failed':
        this.#endWaits(effect.definitive ? Number.POSITIVE_INFINITY : this.now, effect.error)
        if (!this.#callers.isEmpty) this.#onUnreachable(effect.error)
        return
      case 'renewed':
        // The first heartbeat after an adoption sets our own ttl, and so changes the grant.
        if (this.#kept !== undefined && this.#kept.grant !== effect.grant) this.#keep()
        if (this.#guide?.onRenewed(this, this.#lease) === true && this.#kept !== undefined) this.#keep()
        this.observe(effect)
        this.#lease[onGrant](effect)
        return
      default:
        this.observe(effect)
        this.#lease[onGrant](effect)
    }
  }

  #onUnreachable(error: unknown): void {
    const begins = this.group.outage.begin(this)
    const isLogged = this.group.outage.isDue(this.now)
    if (begins || isLogged) this.#lease[onGrant]({ type: 'unreachable', error, begins, isLogged })
  }

  #onReachable(): void {
    const { outage } = this.group
    if (outage.has(this)) this.#lease[onGrant]({ type: 'reachable', isLogged: outage.end(this) })
  }

  #onRefused(holder: LeaseRecord | undefined): void {
    this.#onReachable()
    if (this.#reclaim === 'under-way') return
    this.noteHolder(holder)
    if (holder !== undefined && this.#reclaim === undefined && this.#cleanup?.reclaim(holder) === true) {
      void this.#takeBackOwn(this.#cleanup)
      return
    }
    // Refused by our own earlier grant, which is still being taken back: no other owner holds the name.
    const isOurs = this.#cleanup?.has(holder?.grantId) === true
    this.#endWaits(this.now, isOurs ? ownLeftover(this.rules) : undefined)
    if (!isOurs) this.#preempt(holder)
  }

  /** Has the grant of the holder broken, if a caller wants that. */
  #preempt(holder: LeaseRecord | undefined): void {
    // A watch may yield a record that is not valid.
    if (holder === undefined || faultOfAnswer('read', holder) !== undefined) return
    const notice = askedNotice(this.#callers, holder, this.rules, (caller, error) => this.#reject(caller, error))
    if (notice === undefined) return
    this.seen = broken(this.seen)
    this.dispatch({ type: 'preempt', holder, notice })
  }

  /** Ends the wait of one caller. */
  #reject(caller: AcquireCaller, error: unknown): void {
    caller.reject(error)
    this.#callers.giveUp(caller)
  }

  /** Frees the grant of a late request of ours and asks again. */
  async #takeBackOwn(cleanup: GrantCleanup): Promise<void> {
    this.#reclaim = 'under-way'
    try {
      await cleanup.settle()
    } catch {
      // The next answer shows the result.
    }
    this.#reclaim = 'ended'
    this.dispatch({ type: 'turn' })
  }

  #onGranted(grant: Grant, previous: Metadata | undefined): void {
    this.#onReachable()
    this.#watchGrant(grant)
    this.#keep()
    const callers = this.#callers.takeAll()
    for (const caller of callers) caller.resolve(true)
    this.#lease[onGrant]({ type: 'granted', grant, previous, callers })
  }

  /** Settles the callers whose time is up: another owner holds the lease, or the attempt failed. */
  #endWaits(now: number, failure: unknown): void {
    for (const caller of this.#callers.takeDue(now)) {
      if (failure === undefined) caller.resolve(false)
      else caller.reject(failure)
    }
    if (this.#callers.isEmpty) this.abort()
  }

  #call(op: number, request: StoreRequest): void {
    const limitAt = limitOf(this.#state)
    const { operationTimeout } = this.rules
    const { renewals } = this.group
    if (request.method === 'renew' && renewals !== undefined) {
      renewals.add(this, op, request.grant, operationTimeout, limitAt - this.now)
    } else this.#calls.call(op, request, Math.min(limitAt - this.now, operationTimeout), this.#callers.all[0]?.options)
  }

  /** A grant that came after its call was given up is taken back, unless the same claim is still wanted or held. */
  #onStaleGrant(grant: Grant): void {
    const state = this.#state
    // A late answer to a hand-off: the waiter may use the grant.
    if (this.#passed.includes(grant.grantId)) return
    if (state.phase === 'acquiring' && state.grantId === grant.grantId) return
    if (state.phase !== 'idle' && state.phase !== 'acquiring' && state.grant.grantId === grant.grantId) return
    this.#takeBack(grant.grantId, grant, false)
  }

  #takeBack(grantId: string, grant: Grant | undefined, hasStray: boolean): void {
    this.#cleanup ??= new GrantCleanup(this.rules, this.#store, this.environment.clock)
    this.#cleanup.add(grantId, grant, hasStray, this.environment.workUnder?.(grantId))
  }

  report(error: unknown): void {
    this.#lease[onGrant]({ type: 'fault', error })
  }

  /** Hands the grant to the keeper, before anyone learns of the grant: their code may block this thread. */
  #keep(): void {
    const { keeper, setDeadline } = this.environment
    const held = heldIn(this.#state)
    this.#endKeeping()
    if (keeper === undefined || held === undefined || this.rules.manual) return
    const { grant, confirmedAt, validUntil, holdUntil } = held
    const { after: heartbeatAfter, attemptTimeout: timeout } = this.plan()
    const validity = grantValidity(grant, this.rules)
    const deadline = setDeadline?.(validUntil)
    this.#kept = keeper.keep({ grant, confirmedAt, validity, holdUntil, heartbeatAfter, timeout, deadline }, this)
  }

  #endKeeping(): void {
    this.#kept?.end()
    this.#kept = undefined
  }

  #watchGrant(grant: Grant): void {
    this.#endGrantWatch()
    if (this.#store.watchGrant === undefined) return
    this.#stopGrantWatch = watchGrant(this.#store, grant, () => this.dispatch({ type: 'changed' }))
  }

  #endGrantWatch(): void {
    this.#stopGrantWatch?.()
    this.#stopGrantWatch = undefined
  }

  #watchForTurn(): void {
    const state = this.#state
    if (state.phase !== 'acquiring') {
      this.#stopTurnWatch?.()
      this.#stopTurnWatch = undefined
      return
    }
    if (this.#stopTurnWatch !== undefined || state.call !== undefined || !this.rules.watched) return
    const place = state.queue ? state.grantId : undefined
    this.#stopTurnWatch = watchForTurn(this.rules, this.#store, this.environment, place, (holder) => {
      if (holder === undefined) this.seen = freed(this.seen, this.environment.clock.now())
      this.dispatch({ type: 'turn', holder, isCrowded: this.group.claims.isFull })
      if (this.#state.phase === 'acquiring') this.#preempt(holder)
    })
  }
}
