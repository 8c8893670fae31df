import { checkHistory } from '../checks/check-history.js'
import type { Figures, Violation } from '../checks/report.js'
import type { System } from '../systems/system.js'
import type { ChaosRun } from './run-chaos.js'

/** What is wrong with a run, and its figures. */
export interface Verdict {
  /** Of the recorded history. */
  readonly violations: readonly Violation[]
  /** All that is wrong, a sentence each: the violations, processes that crashed, faults that could not be carried out. */
  readonly faults: readonly string[]
  readonly figures: Figures
}

export function checkRun(system: System, { history, failures }: ChaosRun): Verdict {
  const { violations, figures } = checkHistory(history, { longestRecovery: system.longestRecovery })
  const found = violations.map(({ check, name, message }) => `${check} of '${name}': ${message}`)
  return { violations, faults: [...failures, ...found], figures }
}
