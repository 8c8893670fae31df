import type { Violation } from '../checks/report.js'
import type { History } from '../history/history.js'

/** The part of a history that is drawn: the calls that show the violation, and what was around them. */
export interface ShownPart {
  readonly from: number
  readonly to: number
}

/** How many ttls before the violation are drawn at most: some calls that show it were long before. */
const TTLS = 5

export function shownPart({ from, to, ttl }: History, { at, operations }: Violation): ShownPart {
  const begins = operations.map((operation) => operation.from)
  const ends = operations.map((operation) => operation.to).filter(Number.isFinite)
  return {
    from: Math.max(Math.min(from, at), Math.min(at, ...begins) - ttl / 2, at - TTLS * ttl),
    to: Math.min(Math.max(to, at), Math.max(at, ...ends) + ttl / 2, at + TTLS * ttl),
  }
}
