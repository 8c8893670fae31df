import { Random } from '../../../testkit/src/random.js'
import type { DurationAdvice } from '../../src/objective/duration-advice.js'
import { StorePlans } from '../../src/objective/objective-planner.js'
import type { LeaseObjective } from '../../src/settings/lease-objective.js'
import { type Losses, SimulatedLease } from './lease-days.js'
import { partAtLeast, partAtMost } from './poisson.js'
import type { World } from './world.js'

const DAY = 86_400_000
const DAYS_OF_YEAR = 365.25

/** When a process that learns revises its durations, in days. Leases revise them more often. */
const REVISIONS: readonly number[] = [0.02, 0.2, 1, 3, 7, 14, 30, 60, 90, 120, 150]

/** A result that would come by chance with a smaller probability is a failure. */
const CHANCE = 0.001

/** An objective is missed, and a forecast is wrong, by more than this factor. */
const TOLERANCE = 2

/** Forecasts below this part of the objective are not compared: there, durations are chosen for their traffic. */
const GOOD_ENOUGH = 0.1

/** An objective in a world: what processes that learn there forecast, and what happens to them. */
export interface Trial {
  readonly world: World
  readonly objective: LeaseObjective
  readonly processes: number
  /** How many days each process learns, and for how many its leases are held afterwards. */
  readonly learned: number
  readonly days: number
}

/** A process that has learned, and the life of its leases afterwards. */
interface Life extends Losses {
  readonly advice: DurationAdvice
  /** Whether it warned while it learned, or warns at the end. */
  readonly hasWarned: boolean
}

/** The lives of all processes of a trial. */
export class TrialResult {
  readonly #objective: LeaseObjective
  readonly #lives: readonly Life[]

  constructor({ objective }: Trial, lives: readonly Life[]) {
    this.#objective = objective
    this.#lives = lives
  }

  get days(): number {
    return this.#sum(({ days }) => days)
  }

  get losses(): number {
    return this.#sum(({ losses }) => losses)
  }

  /** False losses a year: what happened. */
  get real(): number {
    return this.losses / (this.days / DAYS_OF_YEAR)
  }

  /** False losses a year: the mean of the forecasts, and of their upper bounds. */
  get forecast(): number {
    return this.#sum(({ advice }) => advice.forecast ?? Number.NaN) / this.#lives.length
  }

  get upperForecast(): number {
    return this.#sum(({ advice }) => advice.upperForecast ?? Number.NaN) / this.#lives.length
  }

  /** How many processes say that they do not keep the objective. */
  get warned(): number {
    return this.#sum(({ advice }) => Number(!advice.kept))
  }

  /** How many processes ever said so. */
  get everWarned(): number {
    return this.#sum(({ hasWarned }) => Number(hasWarned))
  }

  /**
   * The number of processes that missed the objective without a warning. Twice the losses that it allows would give their number of
   * losses in fewer than 1 of 1,000 lives.
   */
  get silentMisses(): number {
    const allowed = TOLERANCE * this.#objective.falseLossesPerYear
    return this.#sum(({ advice, losses, days }) => {
      const isMiss = partAtLeast(losses, (allowed * days) / DAYS_OF_YEAR) < CHANCE
      return Number(advice.kept && isMiss)
    })
  }

  /** Whether the losses exclude that the real rate is within a factor of 2 of the forecast, by the same chance. */
  get isForecastWrong(): boolean {
    const { forecast, real, losses } = this
    const least = GOOD_ENOUGH * this.#objective.falseLossesPerYear
    if (Math.max(forecast, real) < least) return false
    const expected = (forecast * this.days) / DAYS_OF_YEAR
    return partAtLeast(losses, TOLERANCE * expected) < CHANCE || partAtMost(losses, expected / TOLERANCE) < CHANCE
  }

  get advices(): readonly DurationAdvice[] {
    return this.#lives.map(({ advice }) => advice)
  }

  #sum(number: (life: Life) => number): number {
    return this.#lives.reduce((sum, life) => sum + number(life), 0)
  }
}

export function runTrial(trial: Trial, seed: number): TrialResult {
  const lives: Life[] = []
  for (let process = 0; process < trial.processes; process += 1) {
    const random = new Random(seed * 7_919 + process)
    const next = (): number => random.next()
    const { advice, hasWarned } = learn(trial, next)
    lives.push({ advice, hasWarned, ...new SimulatedLease(trial.world, advice, next).live(trial.days) })
  }
  return new TrialResult(trial, lives)
}

/** The advice of a process that has learned, as a lease gets it. */
function learn({ world, objective, learned }: Trial, random: () => number): Pick<Life, 'advice' | 'hasWarned'> {
  const plans = new StorePlans()
  const planner = plans.plannerOf({ objective, kind: '' })
  let advice = planner.adviceAt(0)
  let hasWarned = false
  let before = 0
  for (const until of [...REVISIONS.filter((day) => day < learned), learned]) {
    new SimulatedLease(world, advice, random, plans.experience).live(until - before)
    before = until
    advice = planner.adviceAt(until * DAY)
    hasWarned ||= !advice.kept
  }
  return { advice, hasWarned }
}
