import type { DurationAdvice } from '../../packages/core/src/objective/duration-advice.js'
import type { LeaseTimes } from '../../packages/core/src/objective/loss-forecast.js'
import { StorePlans } from '../../packages/core/src/objective/objective-planner.js'
import type { LeaseObjective } from '../../packages/core/src/settings/lease-objective.js'
import { SimulatedLease } from '../../packages/core/test/objective/lease-days.js'
import { partAbove, type World } from '../../packages/core/test/objective/world.js'
import { Random } from '../../packages/testkit/src/random.js'

const DAY = 86_400_000
const HOUR = 1 / 24
const DAYS_OF_YEAR = 365.25

/** Enough losses for a rate of two digits. */
const ENOUGH = 1_000

/** For how long a process has learned before the shift, and for how long the oracle has seen the world after it, in days. */
const LEARNED = 30

/** When the durations after the shift are compared, in days. */
export const moments = { hour: HOUR, day: 1, month: 30 } as const

export type Moment = keyof typeof moments

/** The store of a process changes at one instant. */
export interface Shift {
  readonly name: string
  readonly before: World
  readonly after: World
}

/** Durations in the world after the shift. */
export interface Outcome {
  readonly times: LeaseTimes
  /** False losses a year, if these durations stayed. `Infinity`: the lease is never held. */
  readonly losses: number
  /** How long a take-over takes at most, but for one in a hundred: the ttl, and two round trips. In milliseconds. */
  readonly takeOver: number
  /** Whether the process says that it does not keep the objective; `false` where nothing is learned. */
  readonly isWarning: boolean
}

/** What became of a lease by each way to choose durations. */
export interface ShiftResult {
  readonly shift: Shift
  /** Chosen for the world before, and kept. */
  readonly fixed: Outcome
  /** As `objective` chooses and revises them. */
  readonly learned: Readonly<Record<Moment, Outcome>>
  /** Chosen by the same rules with a month of observations of the world after it. */
  readonly oracle: Outcome
}

/** `days`: how many lease-days a rate is taken from at most. */
export function runShift(shift: Shift, objective: LeaseObjective, days: number): ShiftResult {
  const { before, after } = shift
  const process = new Learner(objective)
  process.learn(before, LEARNED)
  const outcomeOf = (advice: DurationAdvice, isLearned = true): Outcome => {
    const { heartbeatTimeout, kept } = advice
    const times = isLearned ? timesInUse(after, advice) : advice
    const takeOver = heartbeatTimeout + 2 * after.roundTrip(0.01)
    return { times, losses: lossesOf(after, times, days), takeOver, isWarning: isLearned && !kept }
  }
  const fixed = outcomeOf(process.advice, false)
  const at = (until: Moment): Outcome => {
    process.learn(after, LEARNED + moments[until] - process.days)
    return outcomeOf(process.advice)
  }
  const learned = { hour: at('hour'), day: at('day'), month: at('month') }
  const oracle = new Learner(objective)
  oracle.learn(after, LEARNED)
  return { shift, fixed, learned, oracle: outcomeOf(oracle.advice) }
}

/** A process whose leases learn. */
class Learner {
  readonly #plans = new StorePlans()
  readonly #random = new Random(1)
  readonly #objective: LeaseObjective
  days = 0
  advice: DurationAdvice

  constructor(objective: LeaseObjective) {
    this.#objective = objective
    this.advice = this.#advise()
  }

  learn(world: World, days: number): void {
    const until = this.days + days
    // Leases revise their durations at least once an hour; a tenth more time each is enough where little changes.
    for (let step = HOUR; this.days < until; step *= 1.1) {
      const next = Math.min(step, until - this.days)
      const times = timesInUse(world, this.advice)
      new SimulatedLease(world, times, () => this.#random.next(), this.#plans.experience).live(next)
      this.days += next
      this.advice = this.#advise()
    }
  }

  #advise(): DurationAdvice {
    return this.#plans.plannerOf({ objective: this.#objective, kind: '' }).adviceAt(this.days * DAY)
  }
}

/** Whether most requests are answered within their time limit. */
function isAnswered({ roundTrip }: World, { operationTimeout }: LeaseTimes): boolean {
  return partAbove(roundTrip, operationTimeout) <= 0.5
}

/** Where claims have no answer within the limit that was chosen, a lease with an objective waits longer: see `ObjectiveGuide`. */
function timesInUse(world: World, { heartbeatTimeout, heartbeatInterval, operationTimeout }: LeaseTimes): LeaseTimes {
  const times = { heartbeatTimeout, heartbeatInterval, operationTimeout }
  if (isAnswered(world, times)) return times
  return { ...times, operationTimeout: Math.min(1.5 * world.roundTrip(0.5), 0.6 * heartbeatTimeout) }
}

function lossesOf(world: World, times: LeaseTimes, days: number): number {
  if (!isAnswered(world, times)) return Number.POSITIVE_INFINITY
  const random = new Random(2)
  const lease = new SimulatedLease(world, times, () => random.next())
  let lived = 0
  let losses = 0
  for (let next = 1; lived < days && losses < ENOUGH; next = Math.min(lived, days - lived)) {
    losses += lease.live(next).losses
    lived += next
  }
  return (losses / lived) * DAYS_OF_YEAR
}
