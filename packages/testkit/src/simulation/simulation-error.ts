import type { CheckName } from './checks.js'
import type { SimulationPlan } from './plan.js'
import type { RunResult } from './run-plan.js'
import { drawTimeline } from './timeline.js'
import { drawTimelineAsSvg } from './timeline-svg.js'

/** A run broke a rule. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError'
  readonly seed: number
  /** Which rule. */
  readonly check: CheckName
  /** The smallest plan found that still breaks it: `simulate({ plan })` runs it again. */
  readonly plan: SimulationPlan
  /** The run of that plan, in text. */
  readonly timeline: string
  readonly #smallest: RunResult

  /** @internal */
  constructor(failing: RunResult, smallest: RunResult) {
    const { violation } = smallest
    if (violation === undefined) throw new TypeError('a run without a violation is no error')
    const { seed } = failing.plan
    const timeline = drawTimeline(smallest)
    super(
      `seed ${seed}: ${violation.check}: ${violation.message}\n` +
        `${failing.plan.faults.length} faults, of which ${smallest.plan.faults.length} are needed; to run it again: ` +
        `simulate({ plan: ${JSON.stringify(smallest.plan)} })\n\n${timeline}`,
      violation.cause === undefined ? undefined : { cause: violation.cause },
    )
    this.seed = seed
    this.check = violation.check
    this.plan = smallest.plan
    this.timeline = timeline
    this.#smallest = smallest
  }

  /** The same run as a drawing, for a file. */
  svg(): string {
    return drawTimelineAsSvg(this.#smallest)
  }
}
