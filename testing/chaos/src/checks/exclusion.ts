import { byName } from './by-name.js'
import type { Holding } from './holding.js'
import type { Violation } from './report.js'

export interface Overlaps {
  readonly violations: Violation[]
  /** The longest, in milliseconds. */
  readonly longest: number
}

/** Times in which two grants of one name were valid. */
export function checkExclusion(holdings: readonly Holding[]): Overlaps {
  const violations: Violation[] = []
  let longest = 0
  for (const [name, ofName] of byName(holdings)) {
    let open: Holding[] = []
    for (const holding of ofName.toSorted((left, right) => left.from - right.from)) {
      open = open.filter(({ to }) => to > holding.from)
      for (const earlier of open) {
        const overlap = Math.min(earlier.to, holding.to) - holding.from
        longest = Math.max(longest, overlap)
        violations.push({
          check: 'exclusion',
          name,
          at: holding.from,
          message: `${titleOf(earlier)} and ${titleOf(holding)} were both valid for ${overlap.toFixed(1)} ms`,
          operations: [...earlier.operations, ...holding.operations].sort((left, right) => left.from - right.from),
        })
      }
      open.push(holding)
    }
  }
  return { violations, longest }
}

function titleOf({ client, life, token }: Holding): string {
  return `grant ${token} of client ${client}${life > 1 ? `, life ${life},` : ''}`
}
