import { type EventContext, transition } from '@leasehold/core/internal'
import { encode } from './encoding.js'
import type { RecordedEvent, Recording } from './read-recording.js'
import { RecordedContext } from './reading-context.js'

/** The outcome of a replay. */
export interface Replay {
  readonly events: number
  /** The first event after which this version decides otherwise than the recorded process; `undefined` if there is none. */
  readonly difference: RecordedEvent | undefined
}

/** Replays all events through the transition function of this version, with what was read when they happened. */
export function replay(recordings: readonly Recording[]): Replay {
  let events = 0
  let difference: RecordedEvent | undefined
  for (const { leases } of recordings) {
    for (const lease of leases) {
      for (const event of lease.events) {
        events += 1
        if (difference === undefined && !isSame(event)) difference = event
      }
    }
  }
  return { events, difference }
}

function isSame(recorded: RecordedEvent): boolean {
  const { at, event, before, after, rules, effects, draws } = recorded
  const context: EventContext = new RecordedContext(rules, at, { ...recorded, draws: [...draws], count: draws.length })
  try {
    const next = transition(before, event, context)
    const types = next.effects.map(({ type }) => type)
    return shown(next.state) === shown(after) && String(types) === String(effects)
  } catch {
    return false
  }
}

/** Errors that a transition makes itself are new ones: their stacks and causes may differ. */
function shown(state: object): string {
  const encoded = encode(state, false) as Record<string, unknown>
  return JSON.stringify(sorted(encoded))
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
