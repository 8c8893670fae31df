import type { Write } from '../../history/operation.js'
import type { Called, RegisterCall } from './register-call.js'

/** A write that has had its effect exactly once: its call was accepted, or its value was read. */
export interface Effect {
  readonly kind: 'effect'
  readonly call: Called<Write>
  /** The place of its token among all tokens. */
  readonly rank: number
  readonly value: string
}

/** A call that changes nothing. */
export interface Look {
  readonly kind: 'refused' | 'read'
  readonly call: RegisterCall
  /** Of a refused write. */
  readonly rank: number
  /** Of a read. */
  readonly value: string | undefined
}

/** A write that may have had an effect which nobody has read. */
interface Unread {
  readonly kind: 'unread'
  readonly call: Called<Write>
  readonly rank: number
}

type Event = { readonly at: number; readonly part: Effect | Look | Unread; readonly isReturn: boolean }

/** The calls of one register, as the search goes through them. */
export interface Prepared {
  /** In the order of time; at the same instant, calls begin before others end. */
  readonly events: readonly Event[]
  readonly ranks: number
  /** When the last read of each value was called: until then, no other write may replace it. */
  readonly lastReadFrom: ReadonlyMap<string | undefined, number>
  readonly effectOf: ReadonlyMap<string | undefined, Effect>
}

/**
 * Since all values differ, reads tell which of the writes with an unknown outcome had an effect. The others matter only where
 * their token explains that a smaller one was refused.
 *
 * `begun`: values that were written before the first of these calls, also where the call is among them.
 */
export function prepare(calls: readonly RegisterCall[], begun: ReadonlySet<string | undefined>): Prepared {
  const tokens = calls.flatMap((call) => (call.call === 'write' ? [call.token] : []))
  const sorted = [...new Set(tokens)].sort((left, right) => (left < right ? -1 : 1))
  const rankOf = new Map(sorted.map((token, rank) => [token, rank]))
  const lastReadFrom = new Map<string | undefined, number>()
  for (const call of calls) {
    if (call.call !== 'read' || call.outcome !== 'read') continue
    lastReadFrom.set(call.value, Math.max(lastReadFrom.get(call.value) ?? call.from, call.from))
  }
  const effectOf = new Map<string | undefined, Effect>()
  const events: Event[] = []
  for (const call of calls) {
    const part = partOf(call, rankOf, lastReadFrom, begun)
    if (part === undefined) continue
    if (part.kind === 'effect') {
      if (effectOf.has(part.value)) throw new Error(`The value ${part.value} was written twice.`)
      effectOf.set(part.value, part)
    }
    events.push({ at: call.from, part, isReturn: false })
    if (call.outcome !== 'unknown') events.push({ at: call.to, part, isReturn: true })
  }
  events.sort((left, right) => left.at - right.at || Number(left.isReturn) - Number(right.isReturn))
  return { events, ranks: sorted.length, lastReadFrom, effectOf }
}

function partOf(
  call: RegisterCall,
  rankOf: ReadonlyMap<bigint, number>,
  read: ReadonlyMap<string | undefined, number>,
  begun: ReadonlySet<string | undefined>,
): Effect | Look | Unread | undefined {
  if (call.call === 'read') {
    return call.outcome === 'read' ? { kind: 'read', call, rank: -1, value: call.value } : undefined
  }
  const rank = rankOf.get(call.token) ?? -1
  if (call.outcome === 'refused') return { kind: 'refused', call, rank, value: undefined }
  const isEffect = call.outcome === 'accepted' || (read.has(call.value) && !begun.has(call.value))
  return isEffect ? { kind: 'effect', call, rank, value: call.value } : { kind: 'unread', call, rank }
}
