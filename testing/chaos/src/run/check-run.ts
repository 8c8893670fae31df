import type { Operation } from '../history/operation.js'
import type { System } from '../systems/system.js'
import type { ChaosRun } from './run-chaos.js'

/** All that is wrong with a run, a sentence each. */
export function checkRun(system: System, run: ChaosRun): string[] {
  return [...run.failures, ...unrecovered(system, run)]
}

/** Names that stayed without a holder for too long after the last fault. */
function unrecovered({ longestRecovery, timeouts }: System, { history, healedAt }: ChaosRun): string[] {
  const until = healedAt + longestRecovery + timeouts.ttl
  if (until > history.to) return []
  return namesOf(history.operations).flatMap((name) => {
    const isHeld = holdingsOf(history.operations, name).some(({ from, to }) => from <= until && to >= healedAt)
    return isHeld ? [] : [`'${name}' had no holder within ${longestRecovery + timeouts.ttl} ms after the last fault`]
  })
}

/** The longest time without a holder of any name while the clients worked, in milliseconds. */
export function longestWithoutHolder({ history }: ChaosRun): number {
  const gaps = namesOf(history.operations).map((name) => {
    let longest = 0
    let heldUntil = history.from
    for (const { from, to } of holdingsOf(history.operations, name)) {
      longest = Math.max(longest, from - heldUntil)
      heldUntil = Math.max(heldUntil, to)
    }
    return Math.max(longest, history.to - heldUntil)
  })
  return Math.max(0, ...gaps)
}

interface Span {
  readonly from: number
  readonly to: number
}

/** When a client saw that it holds the name, and until when it could: in the order of `from`. */
function holdingsOf(operations: readonly Operation[], name: string): Span[] {
  const spans: Span[] = []
  for (const operation of operations) {
    if (operation.name !== name || (operation.call !== 'check' && operation.call !== 'acquire')) continue
    const { validUntil, to, call } = operation
    if (validUntil === undefined) continue
    // A grant may have been given up at once after a look.
    spans.push({ from: to, to: call === 'check' ? to : Math.min(validUntil, to) })
  }
  return spans.sort((left, right) => left.from - right.from)
}

function namesOf(operations: readonly Operation[]): string[] {
  return [...new Set(operations.map(({ name }) => name))].sort()
}
