import { systemClock } from '@leasehold/core'
import type { PlannedFault } from '../nemesis/planned-fault.js'
import type { System } from '../systems/system.js'
import type { ChaosOptions } from './chaos-options.js'
import { checkRun, type Verdict } from './check-run.js'
import { type ChaosRun, calmEndOf, runChaos } from './run-chaos.js'
import { shrink } from './shrink.js'

/** A run that failed, and what was wrong with it. */
export interface FailedRun {
  readonly run: ChaosRun
  readonly verdict: Verdict
}

export interface ShrinkingOptions {
  /** How often a smaller schedule is tried before it counts as harmless: real runs differ. */
  readonly tries: number
  /** For how long smaller schedules are tried, in milliseconds. */
  readonly limit: number
  /** Called after each run. */
  readonly onRun: (run: { readonly faults: number; readonly isFailed: boolean }) => void
}

/**
 * The failed run with the fewest faults that was found within the limit: the given one, or a later one. A run counts as failed
 * if it breaks the same rule as the first violation of the given one: with fewer faults, others may be broken for other reasons.
 */
export async function smallestRun(
  system: System,
  options: ChaosOptions,
  failed: FailedRun,
  { tries, limit, onRun }: ShrinkingOptions,
): Promise<FailedRun> {
  const [first] = failed.verdict.violations
  const end = systemClock.now() + limit
  let smallest = failed
  const fails = async (schedule: readonly PlannedFault[]): Promise<boolean> => {
    const run = await runChaos(system, { ...options, duration: durationOf(system, options, schedule), schedule })
    const verdict = checkRun(system, run)
    const isFailed =
      first === undefined ? verdict.faults.length > 0 : verdict.violations.some(({ check }) => check === first.check)
    if (isFailed) smallest = { run, verdict }
    onRun({ faults: schedule.length, isFailed })
    return isFailed
  }
  await shrink(failed.run.schedule, { fails, tries, goesOn: () => systemClock.now() + options.duration < end })
  return smallest
}

/** Shorter, where the last faults are left out: the calm period at the end follows the last of those that are left. */
function durationOf(system: System, { duration }: ChaosOptions, schedule: readonly PlannedFault[]): number {
  const lastEnd = Math.max(...schedule.map(({ at, lasts }) => at + lasts))
  return schedule.length === 0 ? duration : Math.min(duration, lastEnd + calmEndOf(system, duration))
}
