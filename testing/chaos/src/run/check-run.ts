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
  /**
   * Whether a machine that was too busy may be all that is wrong: no lease was granted, a name was without a holder for too
   * long, or a fault could not be carried out. A lease that was granted twice, a write that was lost or a process that crashed needs another cause.
   */
  readonly mayBeSlowness: boolean
  readonly figures: Figures
}

export function checkRun(system: System, { history, crashes, failures }: ChaosRun): Verdict {
  const { violations, figures } = checkHistory(history, { longestRecovery: system.longestRecovery })
  const found = violations.map(({ check, name, message }) => `${check} of '${name}': ${message}`)
  // Nothing is checked in a history without grants.
  const empty = figures.grants === 0 ? ['no lease was granted in the whole run'] : []
  const faults = [...failures, ...crashes, ...empty, ...found]
  const isSafe = crashes.length === 0 && violations.every(({ check }) => check === 'gap')
  return { violations, faults, mayBeSlowness: isSafe && faults.length > 0, figures }
}
