import type { LeaseObjective } from '../settings/lease-objective.js'
import type { DurationAdvice } from './duration-advice.js'
import { DurationChoice, type PlannedLease } from './duration-choice.js'
import { StoreExperience } from './store-experience.js'

/** The durations are revised when this much more is known, and at least once in this time (milliseconds). */
const GROWTH = 1.25
const LEAST_GROWTH = 30
const LONGEST_PAUSE = 3_600_000

/** An objective that was not kept is kept again when the forecast is below this part of it. */
const CLEARLY_KEPT = 0.5

/** A lease whose durations are chosen. `kind`: distinguishes leases of the same objective whose limits or reserves differ. */
interface LeaseOfKind extends PlannedLease {
  readonly kind: string
}

/** The durations of all leases of a store that have the same objective. They change seldom: see `DurationChoice`. */
export class ObjectivePlanner {
  readonly #objective: LeaseObjective
  readonly #choice: DurationChoice
  readonly #experience: StoreExperience
  #advice: DurationAdvice
  #isLogged = true
  #reviseFrom = LEAST_GROWTH
  #revisedAt: number | undefined

  constructor(lease: PlannedLease, experience: StoreExperience) {
    this.#objective = lease.objective
    this.#experience = experience
    this.#choice = new DurationChoice(lease, experience)
    this.#advice = this.#choice.choose()
  }

  /** What is advised now: revised when enough more is known. */
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
    this.#experience.fadeTo(now)
    const before = this.#advice
    const revised = this.#choice.revise(before)
    const advice = stillUnkept(before, revised, this.#objective)
      ? { ...revised, kept: false, reason: before.reason }
      : revised
    this.#advice = advice
    const { attempts } = this.#experience
    this.#reviseFrom = Math.max(attempts * GROWTH, attempts + LEAST_GROWTH)
    this.#revisedAt = now
    if (before.kept !== advice.kept) this.#isLogged = false
  }
}

/** Whether an objective that was not kept is hardly kept now: it would be reported again and again. */
function stillUnkept(before: DurationAdvice, revised: DurationAdvice, { falseLossesPerYear }: LeaseObjective): boolean {
  return !before.kept && revised.kept && (revised.forecast ?? 0) > CLEARLY_KEPT * falseLossesPerYear
}

/** Whether leases act on it: it has other durations, or says something else. A forecast that moves a little is no news. */
export function isNews(before: DurationAdvice | undefined, advice: DurationAdvice): boolean {
  return (
    before === undefined ||
    before.kept !== advice.kept ||
    (before.forecast === undefined) !== (advice.forecast === undefined) ||
    before.heartbeatTimeout !== advice.heartbeatTimeout ||
    before.heartbeatInterval !== advice.heartbeatInterval ||
    before.operationTimeout !== advice.operationTimeout
  )
}

/** The planners of one store, and what they know together. */
export class StorePlans {
  readonly experience = new StoreExperience()
  readonly #planners = new Map<string, ObjectivePlanner>()

  plannerOf(lease: LeaseOfKind): ObjectivePlanner {
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
