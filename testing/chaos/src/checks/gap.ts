import type { History } from '../history/history.js'
import type { Operation } from '../history/operation.js'
import { byName } from './by-name.js'
import type { Holding } from './holding.js'
import type { Gap, Violation } from './report.js'
import { lastSignsOf, processOf } from './seen-grant.js'

export interface Gaps {
  readonly violations: Violation[]
  readonly longest: Gap | undefined
}

/**
 * After the last fault, a name that clients want has a holder within the longest recovery, and again and again until the run
 * ends. A client wants a name while one of its calls of acquire is under way, and between two of them.
 */
export function checkGaps(history: History, holdings: readonly Holding[], longestRecovery: number): Gaps {
  const violations: Violation[] = []
  const calm = Math.max(history.from, ...history.faults.map(({ to }) => to))
  const lastSigns = lastSignsOf(history.operations, history.notices)
  const held = byName(holdings)
  let longest: Gap | undefined
  for (const [name, operations] of byName(history.operations)) {
    const acquires = operations.filter(({ call }) => call === 'acquire')
    for (const gap of gapsOf(name, held.get(name) ?? [], history)) {
      if (longest === undefined || lengthOf(gap) > lengthOf(longest)) longest = gap
      if (Math.min(gap.to, history.to) - Math.max(gap.from, calm) <= longestRecovery) continue
      const wanted = wantedIn(acquires, Math.max(gap.from, calm), gap.to, lastSigns)
      if (wanted.to - wanted.from <= longestRecovery) continue
      const { from, to } = wanted
      const message = `no holder is known for ${(to - from).toFixed(0)} ms after the last fault, in which clients wanted one`
      violations.push({ check: 'gap', name, at: from + longestRecovery, message, operations: wanted.operations })
    }
  }
  return { violations, longest }
}

/** The times without a holder from the begin of the run to its end. */
function* gapsOf(name: string, holdings: readonly Holding[], { from, to }: History): Generator<Gap> {
  let heldUntil = from
  for (const holding of holdings.toSorted((left, right) => left.from - right.from)) {
    if (holding.from >= to) break
    if (holding.from > heldUntil) yield { name, from: heldUntil, to: holding.from }
    heldUntil = Math.max(heldUntil, holding.to)
  }
  if (heldUntil < to) yield { name, from: heldUntil, to }
}

function lengthOf({ from, to }: Gap): number {
  return to - from
}

interface Wanted {
  readonly from: number
  readonly to: number
  readonly operations: readonly Operation[]
}

function wantedIn(
  acquires: readonly Operation[],
  from: number,
  to: number,
  lastSigns: ReadonlyMap<string, number>,
): Wanted {
  const endOf = (operation: Operation): number =>
    Number.isFinite(operation.to) ? operation.to : (lastSigns.get(processOf(operation)) ?? operation.from)
  const operations = acquires.filter((operation) => operation.from < to && endOf(operation) > from)
  return {
    from: operations.reduce((least, operation) => Math.min(least, Math.max(operation.from, from)), to),
    to: operations.reduce((most, operation) => Math.max(most, Math.min(endOf(operation), to)), from),
    operations,
  }
}
