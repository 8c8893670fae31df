import type { RegisterCall } from '../../src/checks/register/register-call.js'
import { checkHistory, type Violation } from '../../src/index.js'
import { HistoryOf } from './history-of.js'

/** The violations of the guarded register in these calls. */
export function checkCalls(calls: readonly RegisterCall[]): Violation[] {
  const history = { ...new HistoryOf().until(Number.MAX_SAFE_INTEGER), operations: calls }
  return checkHistory(history, { longestRecovery: Number.MAX_SAFE_INTEGER }).violations.filter(
    ({ check }) => check === 'register',
  )
}
