import { prepare } from './prepared.js'
import type { RegisterCall } from './register-call.js'
import { Search, type Unexplained, unreadValue } from './search.js'

/** Searches an order of all calls of one register, which nobody has written before. */
export function linearize(calls: readonly RegisterCall[]): Unexplained {
  const initial = { largest: -1, value: undefined, done: new Set<never>() }
  return new Search(prepare(calls, new Set()), [initial]).run()
}

/**
 * Whether these calls have an order in a register that was in any state before. Writes whose outcome is unknown may have been
 * called, and may have had their effect, before.
 */
export function isPossiblePiece(calls: readonly RegisterCall[]): boolean {
  const values = new Set<string | undefined>([unreadValue])
  const accepted = new Set<string | undefined>()
  for (const call of calls) if (call.call === 'write' && call.outcome === 'accepted') accepted.add(call.value)
  for (const call of calls) {
    if (call.call === 'read' && call.outcome === 'read' && !accepted.has(call.value)) values.add(call.value)
  }
  for (const value of values) {
    const prepared = prepare(calls, new Set([value]))
    // No smaller token excludes more, and a smaller one explains fewer refusals.
    const largest = [...prepared.effectOf.values()].reduce((least, { rank }) => Math.min(least, rank), prepared.ranks)
    const initial = [{ largest, value, done: new Set<never>() }]
    if (new Search(prepared, initial).run() === undefined) return true
  }
  return false
}
