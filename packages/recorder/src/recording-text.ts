import type { EngineState, LeaseRules } from '@leasehold/core/internal'
import { encode } from './encoding.js'
import { beforeHeartbeat, type RingEntry } from './ring.js'

/** The version of the format. A reader of a smaller version refuses the file. */
export const VERSION = 1

export const FORMAT = 'leasehold-recording'

/** Why a recording was written. */
export type WriteReason = 'lost' | 'signal' | 'exit' | 'asked' | 'self-fence'

/** The first line of a file. */
export interface RecordingHeader {
  readonly format: typeof FORMAT
  readonly version: number
  readonly reason: WriteReason
  /** When it was written: on the clock of the leases, and on the wall clock; milliseconds. */
  readonly at: number
  readonly wall: number
  /** `id`: drawn at random for each recorder. */
  readonly process: { readonly id: string; readonly pid: number; readonly host: string; readonly node: string }
  /** How many entries the ring has overwritten before its first one. */
  readonly overwritten: number
  /** The exit code, if the process ends. */
  readonly exitCode?: number | undefined
}

/** A lease that is in the recording, and its state when the file was written. */
export interface KnownLease {
  readonly lease: number
  readonly rules: LeaseRules
  readonly state: EngineState
}

/** Writes the lines of a recording. `leases`: those to write; the entries of others are left out. */
export function recordingText(
  header: RecordingHeader,
  leases: readonly KnownLease[],
  entries: Iterable<RingEntry>,
  keepMetadata: boolean,
): string {
  const lines: string[] = []
  const line = (value: object): void => {
    lines.push(JSON.stringify(encode(value, keepMetadata)))
  }
  line(header)
  const known = new Map(leases.map((lease) => [lease.lease, lease]))
  const kept = [...entries].filter((entry) => 'machine' in entry || known.has(entry.lease))
  // The state after an event is the one before the next event of the lease.
  const afters: EngineState[] = []
  const befores: EngineState[] = []
  const states = new Map(leases.map(({ lease, state }) => [lease, state]))
  for (let place = kept.length - 1; place >= 0; place -= 1) {
    const entry = kept[place]
    if (entry === undefined || 'machine' in entry) continue
    const after = states.get(entry.lease)
    if (after === undefined) continue
    const before = entry.before ?? beforeHeartbeat(entry, after)
    afters[place] = after
    befores[place] = before
    states.set(entry.lease, before)
  }
  for (const { lease, rules } of leases) line({ lease, rules: plainRules(rules), state: states.get(lease) })
  const rulesOf = new Map(leases.map(({ lease, rules }) => [lease, rules]))
  kept.forEach((entry, place) => {
    if ('machine' in entry) {
      line({ at: entry.at, machine: entry.machine })
      return
    }
    const before = befores[place]
    const { at, lease, event, effects, rules, readings } = entry
    const { suspended, flags, draws, count } = readings
    const after = afters[place]
    const isChanged = rules !== rulesOf.get(lease)
    rulesOf.set(lease, rules)
    line({
      at,
      lease,
      event,
      ...(suspended !== 0 && { suspended }),
      ...(flags !== 0 && { flags }),
      ...(count > 0 && { draws: [...draws.slice(0, count)] }),
      ...(isChanged && { rules: plainRules(rules) }),
      ...(after !== before && { after }),
      ...(effects.length > 0 && { effects: effects.map((effect) => effect.type) }),
    })
  })
  line({ end: lines.length + 1 })
  return `${lines.join('\n')}\n`
}

/** Without the settings from which heartbeats are planned: each planned heartbeat is in the entries. */
function plainRules(rules: LeaseRules): Omit<LeaseRules, 'plannedTimes'> {
  const { name, owner, kind, ttl, heartbeatInterval, operationTimeout, maxHold, fenceReserve } = rules
  const { manual, exact, watched, ordered, observed } = rules
  const durations = { ttl, heartbeatInterval, operationTimeout, maxHold, fenceReserve }
  return { name, owner, kind, ...durations, manual, exact, watched, ordered, observed }
}
