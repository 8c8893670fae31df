import { Random } from '../../../testkit/src/random.js'
import { chooseDurations, judgeDurations, reviseDurations } from '../../src/objective/chosen-durations.js'
import type { DurationAdvice } from '../../src/objective/duration-advice.js'
import { StoreExperience } from '../../src/objective/store-experience.js'
import type { LeaseObjective } from '../../src/settings/lease-objective.js'
import { type Losses, SimulatedLease } from './lease-days.js'
import type { World } from './world.js'

const DAYS_OF_YEAR = 365.25

/** An objective in a world: what processes that learn there forecast, and what happens to them. */
export interface Trial {
  readonly world: World
  readonly objective: LeaseObjective
  readonly processes: number
  /** How long each process learns, and for how long its leases are held afterwards. */
  readonly learned: number
  readonly days: number
}

export interface TrialResult {
  /** False losses a year: the mean of the forecasts, and what happened. */
  readonly forecast: number
  readonly real: number
  readonly losses: number
  readonly days: number
  /** How many processes said that they do not keep the objective. */
  readonly warned: number
  readonly advices: readonly DurationAdvice[]
}

export function runTrial({ world, objective, processes, learned, days }: Trial, seed: number): TrialResult {
  const advices: DurationAdvice[] = []
  const lives: Losses[] = []
  for (let process = 0; process < processes; process += 1) {
    const random = new Random(seed * 7_919 + process)
    const next = (): number => random.next()
    const advice = learn(world, objective, learned, next)
    advices.push(advice)
    lives.push(new SimulatedLease(world, advice, next).live(days))
  }
  const total = (key: keyof Losses): number => lives.reduce((sum, life) => sum + life[key], 0)
  const forecast = advices.reduce((sum, advice) => sum + (advice.forecast ?? Number.NaN), 0) / processes
  return {
    forecast,
    real: total('losses') / (total('days') / DAYS_OF_YEAR),
    losses: total('losses'),
    days: total('days'),
    warned: advices.filter(({ kept }) => !kept).length,
    advices,
  }
}

/** The advice of a process that chose its durations again when it had learned for a day, and for a week. */
function learn(world: World, objective: LeaseObjective, days: number, random: () => number): DurationAdvice {
  const experience = new StoreExperience()
  let advice: DurationAdvice = chooseDurations(objective, experience)
  let before = 0
  for (const until of [1, 7, days]) {
    new SimulatedLease(world, advice, random, experience).live(until - before)
    before = until
    // Durations are judged that were used for a while.
    const judge = until === days ? judgeDurations : reviseDurations
    advice = judge(advice, objective, experience)
  }
  return advice
}
