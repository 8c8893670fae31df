import { SimulationError } from '../../../packages/testkit/src/simulation/simulation-error.js'
import type { RunResult } from './run-plan.js'
import { drawTimeline } from './timeline.js'
import { drawTimelineAsSvg } from './timeline-svg.js'

/** The error of a run that broke a rule. `smallest`: the smallest run found that still breaks it. */
export function failureOf(failing: RunResult, smallest: RunResult): SimulationError {
  const { violation } = smallest
  if (violation === undefined) throw new TypeError('a run without a violation is no error')
  const { seed } = failing.plan
  const plan = JSON.stringify(smallest.plan)
  const timeline = drawTimeline(smallest)
  const message =
    `seed ${seed}: ${violation.check}: ${violation.message}\n` +
    `${failing.plan.faults.length} faults, of which ${smallest.plan.faults.length} are needed; to run it again: ` +
    `simulate({ seed: ${seed}, plan: '${plan}' })\n\n${timeline}`
  const svg = (): string => drawTimelineAsSvg(smallest)
  return new SimulationError(message, { seed, check: violation.check, plan, timeline, svg, cause: violation.cause })
}
