import type { History } from '../history/history.js'
import { checkExclusion } from './exclusion.js'
import { countOutcomes } from './figures.js'
import { checkGaps } from './gap.js'
import { holdingOf } from './holding.js'
import { checkLateHold } from './late-hold.js'
import { checkLostWrites } from './lost-write.js'
import { checkRegister } from './register/check-register.js'
import type { CheckOptions, Report } from './report.js'
import { seenGrants } from './seen-grant.js'
import { checkTokenOrder } from './token-order.js'

/** Checks a history by all rules. A rule is reported as broken only where the history leaves no other explanation. */
export function checkHistory(history: History, { longestRecovery }: CheckOptions): Report {
  const grants = seenGrants(history)
  const holdings = grants.map(holdingOf).filter((holding) => holding !== undefined)
  const overlaps = checkExclusion(holdings)
  const gaps = checkGaps(history, holdings, longestRecovery)
  const writes = checkLostWrites(history)
  const violations = [
    ...overlaps.violations,
    ...checkTokenOrder(history, grants),
    ...checkLateHold(grants),
    ...checkRegister(history.operations),
    ...writes.violations,
    ...gaps.violations,
  ]
  return {
    violations: violations.sort((left, right) => left.at - right.at),
    figures: {
      ...countOutcomes(history),
      longestGap: gaps.longest,
      longestOverlap: overlaps.longest,
      overwrittenUnseen: writes.overwrittenUnseen,
    },
  }
}
