import { type EngineEffect, transition } from '@leasehold/core/internal'
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

/** What the engine was asked to do after an event. */
export function effectsOf(recorded: RecordedEvent): readonly EngineEffect[] {
  return recorded.effects.length === 0 ? [] : decideAgain(recorded).effects
}

function decideAgain(recorded: RecordedEvent): ReturnType<typeof transition> {
  const { at, event, before, rules, draws } = recorded
  const context = new RecordedContext(rules, at, { ...recorded, draws: [...draws], count: draws.length })
  return transition(before, event, context)
}

function isSame(recorded: RecordedEvent): boolean {
  try {
    const { state, effects } = decideAgain(recorded)
    return (
      shown(state) === shown(recorded.after) && String(effects.map(({ type }) => type)) === String(recorded.effects)
    )
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
