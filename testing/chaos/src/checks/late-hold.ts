import type { Operation } from '../history/operation.js'
import type { Violation } from './report.js'
import type { SeenGrant } from './seen-grant.js'

interface End {
  readonly at: number
  readonly title: string
  readonly operation: Operation | undefined
}

/** A grant that has ended for its process is never valid again. */
export function checkLateHold(grants: readonly SeenGrant[]): Violation[] {
  const violations: Violation[] = []
  for (const grant of grants) {
    const end = endOf(grant)
    if (end === undefined) continue
    const late = [...grant.acquires, ...grant.held].filter(({ from }) => from > end.at)
    const renewal = grant.renewals.find(({ at }) => at > end.at)
    const [first] = late.sort((left, right) => left.from - right.from)
    const at = Math.min(first?.from ?? Infinity, renewal?.at ?? Infinity)
    if (at === Infinity) continue
    violations.push({
      check: 'late-hold',
      name: grant.name,
      at,
      message: `client ${grant.client} held its grant ${grant.token} ${(at - end.at).toFixed(1)} ms after ${end.title}`,
      operations: [end.operation, first].filter((operation) => operation !== undefined),
    })
  }
  return violations
}

/** The first instant at which the process certainly knew of the end. */
function endOf({ givings, losses }: SeenGrant): End | undefined {
  const ends: End[] = losses.map(({ at, reason }) => ({
    at,
    title: `it was lost (${reason ?? 'no reason'})`,
    operation: undefined,
  }))
  for (const operation of givings) {
    const { to: at, outcome } = operation
    if (outcome === 'gone' || outcome === 'foreign') ends.push({ at, title: 'its release', operation })
    else if (outcome === 'handed-over') ends.push({ at, title: 'it was handed over', operation })
  }
  return ends.sort((left, right) => left.at - right.at)[0]
}
