import type { Grant, LeaseLost } from '@leasehold/core'
import type { EngineState, LeaseRules } from '@leasehold/core/internal'
import {
  effectsOf,
  type MachineEvent,
  type RecordedEvent,
  type Recording,
  type RecordingHeader,
} from '@leasehold/recorder/internal'
import { grouped } from './grouped.js'

/** One process, from all of its recordings. Instants are on the wall clock of the process, milliseconds. */
export interface ProcessStory {
  readonly id: string
  readonly label: string
  /** Of its last recording. */
  readonly header: RecordingHeader
  readonly leases: readonly LeaseStory[]
  readonly machine: readonly { readonly at: number; readonly event: MachineEvent }[]
  readonly words: Recording['words']
  /** By how much its clock has to be moved so that no answer of a store comes before its cause. */
  shift: number
}

/** One lease of a process. */
export interface LeaseStory {
  readonly name: string
  readonly owner: string
  readonly rules: LeaseRules
  readonly events: readonly RecordedEvent[]
  readonly calls: readonly StoreCallStory[]
  readonly holds: readonly Hold[]
  readonly losses: readonly Loss[]
}

export interface StoreCallStory {
  readonly op: number
  readonly method: string
  readonly sentAt: number
  /** When the answer or the failure came, or the call was given up; `undefined` while it is under way. */
  endedAt?: number
  outcome: 'pending' | 'answered' | 'failed' | 'given-up'
  /** When an answer came after the call was given up. */
  answeredLateAt?: number
  error?: unknown
}

/** A grant, from its request to its end. `to` is `undefined` while it is held at the end of the recording. */
export interface Hold {
  readonly grant: Grant
  readonly from: number
  /** Whether the recording has its beginning. */
  readonly isWhole?: boolean
  to?: number
  end?: 'lost' | 'released'
  /** When the last confirmed request was sent, and when the validity ended. */
  confirmedAt: number
  validUntil: number
  /** Whether the record of the last holder was there when it was granted; `undefined` if the claim was seen no more. */
  readonly hadRecord?: boolean
}

export interface Loss {
  readonly hold: Hold
  readonly at: number
  readonly lost: LeaseLost
  readonly event: RecordedEvent
}

/** The stories of the processes that wrote these files. Several files of one process are put together. */
export function processStories(recordings: readonly Recording[]): readonly ProcessStory[] {
  const byProcess = grouped(recordings, ({ header }) => `${header.process.host} ${header.process.id}`)
  return [...byProcess.values()].map((files) => {
    const sorted = files.toSorted((one, other) => one.header.at - other.header.at)
    const last = sorted.at(-1) as Recording
    // One clock for the process: the wall clock as the last file has it.
    const wallOf = (at: number): number => at + last.header.wall - last.header.at
    const named = grouped(
      sorted.flatMap(({ leases }) => leases),
      ({ rules }) => JSON.stringify([rules.name, rules.owner]),
    )
    const leases = [...named.values()].map((histories) => {
      const events = distinct(histories.flatMap((history) => history.events)).map((event) => ({
        ...event,
        wall: wallOf(event.at),
      }))
      const rules = (histories.at(-1) as { rules: LeaseRules }).rules
      return leaseStory(rules, events, wallOf)
    })
    const machine = distinctBy(
      sorted.flatMap((file) => file.machine).map(({ at, event }) => ({ at: wallOf(at), event })),
    )
    const { pid, host } = last.header.process
    const words = sorted.flatMap((file) => file.words)
    return {
      id: last.header.process.id,
      label: `pid ${pid} on ${host}`,
      header: last.header,
      leases,
      machine,
      words,
      shift: 0,
    }
  })
}

/** Each event once, though several files of a process have it. */
function distinct(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const seen = new Map<string, RecordedEvent>()
  for (const event of events) {
    const { at, before, after, effects } = event
    const key = JSON.stringify([at, event.event.type, before.op, before.phase, after.op, after.phase, effects])
    if (!seen.has(key)) seen.set(key, event)
  }
  return [...seen.values()].sort((one, other) => one.at - other.at)
}

function distinctBy<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

function leaseStory(rules: LeaseRules, events: readonly RecordedEvent[], wallOf: (at: number) => number): LeaseStory {
  const calls: StoreCallStory[] = []
  const holds: Hold[] = []
  const losses: Loss[] = []
  for (const event of events) {
    followCalls(calls, event)
    followHolds(holds, event, wallOf)
    const lost = effectsOf(event).find((effect) => effect.type === 'lost')
    const hold = holds.at(-1)
    if (lost?.type === 'lost' && hold !== undefined) losses.push({ hold, at: event.wall, lost: lost.lost, event })
  }
  return { name: rules.name, owner: rules.owner, rules, events, calls, holds, losses }
}

function followCalls(calls: StoreCallStory[], { event, before, after, wall }: RecordedEvent): void {
  const op = 'op' in event ? event.op : event.type === 'confirmed' ? before.op : undefined
  const asked = op === undefined ? undefined : calls.findLast((call) => call.op === op)
  if (asked !== undefined) {
    if (asked.outcome === 'given-up' && event.type !== 'failure') asked.answeredLateAt ??= wall
    if (asked.outcome === 'pending') {
      asked.endedAt = wall
      asked.outcome = event.type === 'failure' ? 'failed' : 'answered'
      if (event.type === 'failure') asked.error = event.error
    }
  }
  const [was, is] = [callIn(before), callIn(after)]
  const last = calls.at(-1)
  const isEnded = was !== undefined && (is === undefined || after.op !== before.op)
  if (isEnded && last?.op === before.op && last.outcome === 'pending') {
    last.endedAt = wall
    last.outcome = 'given-up'
  }
  if (is !== undefined && (was === undefined || after.op !== before.op)) {
    calls.push({ op: after.op, method: is, sentAt: wall, outcome: 'pending' })
  }
}

function callIn(state: EngineState): string | undefined {
  if (state.phase === 'idle') return undefined
  return state.phase === 'releasing' ? state.call : state.call?.method
}

function followHolds(holds: Hold[], recorded: RecordedEvent, wallOf: (at: number) => number): void {
  const { before, after, event, wall } = recorded
  if (after.phase === 'held' || after.phase === 'jeopardy') {
    const known = holds.at(-1)
    if (known === undefined || known.to !== undefined || known.grant.grantId !== after.grant.grantId) {
      const isClaim = event.type === 'acquire-answer' && event.outcome.granted
      const hadRecord = isClaim && event.outcome.granted ? { hadRecord: event.outcome.previous !== undefined } : {}
      const { grant, confirmedAt, validUntil } = after
      // A recording may begin in the middle of a hold.
      const from = before.phase === 'acquiring' ? wallOf(confirmedAt) : wall
      holds.push({
        grant,
        from,
        confirmedAt: wallOf(confirmedAt),
        validUntil: wallOf(validUntil),
        isWhole: before.phase === 'acquiring',
        ...hadRecord,
      })
      return
    }
    known.confirmedAt = wallOf(after.confirmedAt)
    known.validUntil = wallOf(after.validUntil)
    return
  }
  const wasHeld = before.phase === 'held' || before.phase === 'jeopardy'
  if (!wasHeld) return
  let hold = holds.at(-1)
  if (hold === undefined || hold.to !== undefined) {
    const { grant, confirmedAt, validUntil } = before
    const at = wallOf(confirmedAt)
    hold = { grant, from: at, confirmedAt: at, validUntil: wallOf(validUntil) }
    holds.push(hold)
  }
  hold.to = wall
  hold.end = after.phase === 'releasing' ? 'released' : 'lost'
}
