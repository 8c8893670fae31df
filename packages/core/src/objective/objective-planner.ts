import type { LeaseObjective } from '../settings/lease-objective.js'
import { chooseDurations, reviseDurations, type TtlLimits } from './chosen-durations.js'
import type { DurationAdvice } from './duration-advice.js'
import { StoreExperience } from './store-experience.js'

/** The durations are revised when this much more is known, and at least once in this time (milliseconds). */
const GROWTH = 1.25
const LEAST_GROWTH = 30
const LONGEST_PAUSE = 3_600_000

/** An objective that was not kept is kept again when the forecast is below this part of it. */
const CLEARLY_KEPT = 0.5

/** The objective of a lease, and what restricts its durations. */
export interface PlannedLease {
  readonly objective: LeaseObjective
  readonly limits: TtlLimits
  /** How much earlier the validity of a ttl ends than usual, in milliseconds. */
  readonly reserveOf: (ttl: number) => number
  /** Distinguishes leases of the same objective whose reserves differ. */
  readonly kind: string
}

/** The durations of all leases of a store that have the same objective. They change seldom: see `reviseDurations`. */
export class ObjectivePlanner {
  readonly #lease: PlannedLease
  readonly #experience: StoreExperience
  #advice: DurationAdvice
  #isLogged = true
  #reviseFrom = LEAST_GROWTH
  #revisedAt: number | undefined

  constructor(lease: PlannedLease, experience: StoreExperience) {
    this.#lease = lease
    this.#experience = experience
    const { objective, limits, reserveOf } = lease
    this.#advice = chooseDurations(objective, experience, limits, reserveOf)
  }

  /** The same object as before, unless the durations or `kept` have changed. */
  adviceAt(now: number): DurationAdvice {
    const { attempts } = this.#experience
    this.#revisedAt ??= now
    if (attempts >= this.#reviseFrom || now >= this.#revisedAt + LONGEST_PAUSE) this.#revise(now)
    return this.#advice
  }

  /** Whether a change of `kept` is to be logged. True once for all leases of the store. */
  takeNotice(): boolean {
    const isDue = !this.#isLogged
    this.#isLogged = true
    return isDue
  }

  #revise(now: number): void {
    const { objective, limits, reserveOf } = this.#lease
    this.#experience.fadeTo(now)
    const before = this.#advice
    const revised = reviseDurations(before, objective, this.#experience, limits, reserveOf)
    const advice = stillUnkept(before, revised, objective)
      ? { ...revised, kept: false, reason: before.reason }
      : revised
    const { attempts } = this.#experience
    this.#reviseFrom = Math.max(attempts * GROWTH, attempts + LEAST_GROWTH)
    this.#revisedAt = now
    if (before.kept !== advice.kept) this.#isLogged = false
    if (before.kept !== advice.kept || before.forecast === undefined || !areSame(before, advice)) this.#advice = advice
  }
}

/** Whether an objective that was not kept is hardly kept now: it would be reported again and again. */
function stillUnkept(before: DurationAdvice, revised: DurationAdvice, { falseLossesPerYear }: LeaseObjective): boolean {
  return !before.kept && revised.kept && (revised.forecast ?? 0) > CLEARLY_KEPT * falseLossesPerYear
}

function areSame(one: DurationAdvice, other: DurationAdvice): boolean {
  return (
    one.heartbeatTimeout === other.heartbeatTimeout &&
    one.heartbeatInterval === other.heartbeatInterval &&
    one.operationTimeout === other.operationTimeout
  )
}

/** The planners of one store, and what they know together. */
export class StorePlans {
  readonly experience = new StoreExperience()
  readonly #planners = new Map<string, ObjectivePlanner>()

  plannerOf(lease: PlannedLease): ObjectivePlanner {
    const { failover, falseLossesPerYear } = lease.objective
    const key = `${failover} ${falseLossesPerYear} ${lease.kind}`
    let planner = this.#planners.get(key)
    if (planner === undefined) {
      planner = new ObjectivePlanner(lease, this.experience)
      this.#planners.set(key, planner)
    }
    return planner
  }
}
