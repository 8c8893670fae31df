import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import type { DurationAdvice } from '../objective/duration-advice.js'
import { HeartbeatLearner } from '../objective/heartbeat-learner.js'
import { isNews, type ObjectivePlanner, type StorePlans } from '../objective/objective-planner.js'
import { fenceReserve } from '../settings/fence-times.js'
import type { LeaseObjective } from '../settings/lease-objective.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { EngineEffect } from './engine-effect.js'
import { type EngineState, type Held, heldIn } from './engine-state.js'
import { type GrantListener, onGrant } from './grant-effect.js'
import { type LeaseRules, rulesOf } from './lease-rules.js'
import type { StoreTraits } from './store-traits.js'

/** After claims without an answer: how many times as long as the claim that was answered a time limit is at least. */
const ROOM = 1.5

/** The longest time limit after claims without an answer, as a part of the ttl: a heartbeat at 30 % of the ttl is in time. */
const LONGEST_LIMIT = 0.6

/** The engine of a lease with an objective. */
interface GuidedLease {
  rules: LeaseRules
  readonly now: number
}

/** What the leases of a store know together. */
interface Experienced {
  readonly plans: StorePlans
  readonly traits: StoreTraits
}

/** Guides a lease with an objective: learns from its heartbeats, and says by which rules it goes on. */
export class ObjectiveGuide {
  readonly #settings: LeaseSettings
  readonly #traits: StoreTraits
  readonly #planner: ObjectivePlanner
  readonly #learner: HeartbeatLearner
  #advice: DurationAdvice | undefined
  /**
   * The shortest time limit that may be chosen, in milliseconds; 0 until a claim had no answer in time. Without it, a store that
   * became slower than the time limit would never answer in time again, and nothing would be learned about it.
   */
  #leastLimit = 0

  /** The guide of a lease, if its settings have an objective. */
  static of(settings: LeaseSettings, store: LeaseStore, group: Experienced): ObjectiveGuide | undefined {
    const { objective } = settings.timeouts
    return objective === undefined ? undefined : new ObjectiveGuide(objective, settings, store, group)
  }

  private constructor(
    objective: LeaseObjective,
    settings: LeaseSettings,
    store: LeaseStore,
    { plans, traits }: Experienced,
  ) {
    const isFenced = settings.selfFence !== undefined
    this.#settings = settings
    this.#traits = traits
    this.#learner = new HeartbeatLearner(plans.experience)
    this.#planner = plans.plannerOf({
      objective,
      limits: limitsOf(settings, store),
      reserveOf: isFenced ? fenceReserve : () => 0,
      kind: `${isFenced} ${hasFixedTtl(settings)}`,
    })
  }

  get advice(): DurationAdvice | undefined {
    return this.#advice
  }

  /** The rules for the next grant. */
  rulesAt(now: number): LeaseRules {
    this.#advice = this.#adviceAt(now)
    return rulesOf(this.#settings, this.#traits, this.#advice)
  }

  #adviceAt(now: number): DurationAdvice {
    const advice = this.#planner.adviceAt(now)
    const limit = Math.floor(Math.min(this.#leastLimit, LONGEST_LIMIT * advice.heartbeatTimeout))
    return limit <= advice.operationTimeout ? advice : { ...advice, operationTimeout: limit }
  }

  /**
   * The rules for the rest of a grant, if they have changed. The ttl stays: it is in the record, and counts for the validity
   * of the holder and for the others.
   */
  #revisedAt(now: number, { ttl }: LeaseRules): LeaseRules | undefined {
    const before = this.#advice
    const advice = this.#adviceAt(now)
    this.#advice = advice
    if (!isNews(before, advice)) return undefined
    const scale = Math.min(ttl / advice.heartbeatTimeout, 1)
    return rulesOf(this.#settings, this.#traits, {
      heartbeatTimeout: ttl,
      heartbeatInterval: Math.max(Math.floor(advice.heartbeatInterval * scale), 1),
      operationTimeout: Math.max(Math.floor(advice.operationTimeout * scale), 1),
    })
  }

  /** A new grant is asked for: it gets the durations that are the best now. */
  onClaim(lease: GuidedLease, listener: GrantListener, now: number): void {
    const before = this.#advice
    lease.rules = this.rulesAt(now)
    if (this.#advice !== undefined && isNews(before, this.#advice)) this.#notify(listener)
  }

  /**
   * The times of the heartbeats may change during a grant: the next heartbeat that is planned has the new ones. Returns
   * whether they have changed.
   */
  onRenewed(lease: GuidedLease, listener: GrantListener): boolean {
    const rules = this.#revisedAt(lease.now, lease.rules)
    if (rules === undefined) return false
    lease.rules = rules
    this.#notify(listener)
    return true
  }

  #notify(listener: GrantListener): void {
    const advice = this.#advice
    if (advice !== undefined) listener[onGrant]({ type: 'advised', advice, isLogged: this.#planner.takeNotice() })
  }

  /** A transition from `before` to `after`, and its effects. */
  onTransition(lease: GuidedLease, before: EngineState, after: EngineState, effects: readonly EngineEffect[]): void {
    const { now } = lease
    for (const effect of effects) {
      this.#onEffect(effect, before, after, now)
      if (effect.type === 'failed' && effect.error instanceof LeaseTimeoutError) this.#onUnanswered(lease)
    }
    if (heldIn(before) !== undefined && after.phase === 'releasing') this.#learner.onEnded(now)
  }

  #onEffect(effect: EngineEffect, before: EngineState, after: EngineState, now: number): void {
    const [held, next] = [heldIn(before), heldIn(after)]
    switch (effect.type) {
      case 'granted':
        if (next === undefined) return
        this.#learner.onGranted(next.confirmedAt)
        if (this.#leastLimit > 0) this.#leastLimit = ROOM * (now - next.confirmedAt)
        return
      case 'call': {
        const isHeartbeat = effect.request.method === 'renew' || effect.request.method === 'update'
        if (!isHeartbeat || held === undefined || next?.call === undefined) return
        // A heartbeat by hand, or one that follows at once, was due now.
        const dueAt = held.call === undefined ? Math.min(held.heartbeatAt, now) : now
        this.#learner.onSent(dueAt, now, next.attemptTimeout)
        return
      }
      case 'renewed':
        if (effect.latency !== undefined) this.#learner.onAnswered(now - effect.latency, now)
        else if (next !== undefined) this.#learner.onGranted(next.confirmedAt)
        return
      case 'jeopardy':
        if (effect.latency === undefined) return
        this.#learner.onFailed(now - effect.latency, now, effect.cause instanceof LeaseTimeoutError)
        return
      case 'lost':
        if (held === undefined) return
        if (effect.lost.reason === 'expired') this.#onExpired(held, now)
        else this.#learner.onEnded(Math.min(now, held.validUntil))
    }
  }

  /** The claim is repeated with a longer time limit. The ttl stays: the claim may have been granted already. */
  #onUnanswered(lease: GuidedLease): void {
    const { ttl, heartbeatInterval, operationTimeout } = lease.rules
    this.#leastLimit = Math.min(2 * operationTimeout, LONGEST_LIMIT * ttl)
    if (this.#leastLimit <= operationTimeout) return
    const limited = { heartbeatTimeout: ttl, heartbeatInterval, operationTimeout: this.#leastLimit }
    lease.rules = rulesOf(this.#settings, this.#traits, limited)
  }

  #onExpired({ call, validUntil, heartbeatAt }: Held, now: number): void {
    if (call !== undefined) this.#learner.onFailed(call.sentAt, validUntil, true)
    this.#learner.onExpired(validUntil, call === undefined ? heartbeatAt : Number.POSITIVE_INFINITY, now)
  }
}

/** The limits of the store. Where other parts of the lease have taken the ttl that it began with, it stays. */
function limitsOf(settings: LeaseSettings, { limits }: LeaseStore): LeaseStore['limits'] {
  if (!hasFixedTtl(settings)) return limits
  const ttl = Math.min(Math.max(settings.timeouts.heartbeatTimeout, limits.minTtl), limits.maxTtl)
  return { ...limits, minTtl: ttl, maxTtl: ttl }
}

function hasFixedTtl({ selfFence, childGrace }: LeaseSettings): boolean {
  return selfFence !== undefined || childGrace !== undefined
}
