import type { EngineEvent, EngineState, LeaseRules } from '@leasehold/core/internal'
import { decode } from './encoding.js'
import type { MachineEvent } from './machine-watch.js'
import type { RecordedStack } from './recorded-stack.js'
import { FORMAT, type RecordingHeader, VERSION } from './recording-text.js'

/** A file is no recording that this version can read; the message says why. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
}

/** One event of a lease. `wall`: when it happened by the wall clock of its process, as it stood when the file was written. */
export interface RecordedEvent {
  readonly at: number
  readonly wall: number
  readonly event: EngineEvent
  readonly before: EngineState
  readonly after: EngineState
  readonly rules: LeaseRules
  /** The types of the effects, in order. */
  readonly effects: readonly string[]
  readonly suspended: number
  readonly flags: number
  readonly draws: readonly number[]
}

export interface RecordedLeaseHistory {
  readonly rules: LeaseRules
  /** After the last event. */
  readonly state: EngineState
  readonly events: readonly RecordedEvent[]
}

/** One file. */
export interface Recording {
  readonly header: RecordingHeader
  readonly leases: readonly RecordedLeaseHistory[]
  readonly machine: readonly { readonly at: number; readonly wall: number; readonly event: MachineEvent }[]
  readonly words: readonly LastWords[]
}

/** The line of the thread that ended the process, in a recording that it wrote itself. Milliseconds of the wall clock. */
interface LastWords extends RecordedStack {
  readonly endedAt: number
  readonly silentSince: number
  readonly cpu: number
}

interface Line {
  readonly at?: number
  readonly lease?: number
  readonly state?: EngineState
  readonly rules?: LeaseRules
  readonly event?: EngineEvent
  readonly after?: EngineState
  readonly effects?: readonly string[]
  readonly suspended?: number
  readonly flags?: number
  readonly draws?: readonly number[]
  readonly machine?: MachineEvent
  readonly words?: LastWords
  readonly end?: number
}

/** Reads a recording. `file`: its name, for errors. Throws a `RecordingError` if it cannot be read. */
export function readRecording(text: string, file: string): Recording {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const parsed = lines.map((line, place) => parseLine(line, file, place, lines.length))
  const header = checkedHeader(parsed[0], file)
  const body = parsed.slice(1, -1) as Line[]
  const { end } = Object(parsed.at(-1)) as Line
  if (parsed.length < 2 || end !== parsed.length) throw cut(file)
  try {
    return toRecording(header, body)
  } catch (error) {
    throw new RecordingError(`${file}: the recording is damaged: ${error instanceof Error ? error.message : error}`)
  }
}

function cut(file: string): RecordingError {
  return new RecordingError(
    `${file}: the recording is cut off: its last line is missing. Copy the whole file, or leave it out`,
  )
}

function parseLine(line: string, file: string, place: number, count: number): unknown {
  try {
    return decode(JSON.parse(line))
  } catch {
    if (place > 0 && place === count - 1) throw cut(file)
    const what = place === 0 ? 'this is no recording of leasehold' : `line ${place + 1} is not valid`
    throw new RecordingError(`${file}: ${what}`)
  }
}

function checkedHeader(line: unknown, file: string): RecordingHeader {
  const header = Object(line) as RecordingHeader
  if (header.format !== FORMAT || typeof header.version !== 'number') {
    throw new RecordingError(`${file}: this is no recording of leasehold`)
  }
  if (header.version > VERSION) {
    throw new RecordingError(
      `${file}: the recording has version ${header.version} of the format, and this leasehold reads up to ${VERSION}: ` +
        'use the leasehold of the version that wrote it, or a later one',
    )
  }
  return header
}

function toRecording(header: RecordingHeader, lines: readonly Line[]): Recording {
  const wallOf = wallClock(header, lines)
  const leases = new Map<
    number,
    { rules: LeaseRules; current: LeaseRules; state: EngineState; events: RecordedEvent[] }
  >()
  const machine: Recording['machine'][number][] = []
  const words: LastWords[] = []
  for (const line of lines) {
    const { at = 0, lease, state, rules, event } = line
    if (line.words !== undefined) words.push(line.words)
    else if (line.machine !== undefined) machine.push({ at, wall: wallOf(at), event: line.machine })
    else if (lease !== undefined && event === undefined && rules !== undefined && state !== undefined) {
      leases.set(lease, { rules, current: rules, state, events: [] })
    } else if (lease !== undefined && event !== undefined) {
      const known = leases.get(lease)
      if (known === undefined) throw new Error(`lease ${lease} is not declared`)
      const { after = known.state, effects = [], suspended = 0, flags = 0, draws = [] } = line
      known.current = rules ?? known.current
      known.events.push({
        ...{ at, wall: wallOf(at), event, before: known.state, after, rules: known.current },
        ...{ effects, suspended, flags, draws },
      })
      known.state = after
    } else throw new Error('it has a line of an unknown kind')
  }
  const histories = [...leases.values()].map(({ rules, state, events }) => ({ rules, state, events }))
  return { header, leases: histories, machine, words }
}

/** The wall clock of an instant: as it stands at the end of the recording. A step that came later had not happened yet. */
function wallClock({ at, wall }: RecordingHeader, _lines: readonly Line[]): (instant: number) => number {
  return (instant) => instant + wall - at
}
