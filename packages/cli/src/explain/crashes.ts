import type { LeaseRecord } from '@leasehold/core'
import type { RecordedEvent } from '@leasehold/recorder/internal'
import { durationText } from '../duration-text.js'
import type { Finding } from './causes.js'
import { grouped } from './grouped.js'
import type { Hold, ProcessStory } from './process-story.js'

/** How far the end of a ttl may be off, in milliseconds, for the record to count as not renewed. */
const TOLERANCE = 500

/** A holder that ended without a report: other processes saw that it did not renew any more. */
export interface Disappearance {
  readonly name: string
  readonly owner: string
  readonly token: bigint
  /** When its name was granted again, or was free, on the clocks as they were aligned. */
  readonly at: number
  /** When it was last seen to have renewed, at the latest. */
  readonly renewedAt: number
  readonly next: { readonly process: ProcessStory; readonly owner: string }
  readonly finding: Finding
}

interface Sight {
  readonly holder: LeaseRecord
  readonly at: number
}

/** The holders that let their grants expire, and did not report it. */
export function disappearances(processes: readonly ProcessStory[]): readonly Disappearance[] {
  const found = new Map<string, Disappearance>()
  for (const process of processes) {
    for (const { name, owner, events } of process.leases) {
      let last: Sight | undefined
      for (const event of events) {
        const holder = holderIn(event)
        const at = event.wall + process.shift
        if (holder !== undefined) last = { holder, at }
        if (last === undefined || !isGrant(event)) continue
        const gone = disappearance(last, at, processes)
        if (gone !== undefined) found.set(last.holder.grantId, { ...gone, name, next: { process, owner } })
        last = undefined
      }
    }
  }
  return [...found.values()]
}

function isGrant({ before, after }: RecordedEvent): boolean {
  return before.phase === 'acquiring' && (after.phase === 'held' || after.phase === 'jeopardy')
}

function holderIn({ event }: RecordedEvent): LeaseRecord | undefined {
  if (event.type !== 'acquire-answer' || event.outcome.granted) return undefined
  const { holder } = event.outcome
  return holder?.state === 'leased' && holder.grantId !== '' ? holder : undefined
}

function disappearance(
  { holder, at: seenAt }: Sight,
  grantedAt: number,
  processes: readonly ProcessStory[],
): Omit<Disappearance, 'name' | 'next'> | undefined {
  const { grantId, owner, fencingToken: token, remaining, ttl } = holder
  if (remaining === undefined || ttl === undefined) return undefined
  // It was released, broken or gone before its end: no crash.
  if (grantedAt < seenAt + remaining - TOLERANCE) return undefined
  const holds = processes.flatMap((process) =>
    process.leases.flatMap((lease) => lease.holds.map((hold) => ({ process, hold }))),
  )
  const own = holds.find(({ hold }) => hold.grant.grantId === grantId)
  const renewedAt = seenAt - Math.max(0, ttl - remaining)
  const base = { owner, token, at: grantedAt, renewedAt }
  if (own === undefined) {
    const because =
      `its process ended without a word: no renewal came for ${durationText(grantedAt - renewedAt)}, and there is no ` +
      'recording of a loss. It crashed or was killed'
    return { ...base, finding: { cause: 'crash', because } }
  }
  const { header, id, label } = own.process
  if (own.hold.to !== undefined || header.reason !== 'exit') return undefined
  const because = `its process (${label}) exited with the code ${header.exitCode ?? 'unknown'} while it held the lease`
  return { ...base, finding: { cause: 'crash', because, process: id } }
}

/** A hold of a lease by one of the processes. */
interface HoldOf {
  readonly process: ProcessStory
  readonly owner: string
  readonly hold: Hold
}

/** The holds of a lease, in the order of their tokens. */
export function holdsOf(processes: readonly ProcessStory[], name: string): HoldOf[] {
  const all = processes.flatMap((process) =>
    process.leases
      .filter((lease) => lease.name === name)
      .flatMap((lease) => lease.holds.map((hold) => ({ process, owner: lease.owner, hold }))),
  )
  const distinct = [...grouped(all, ({ process, hold }) => `${process.id} ${hold.grant.grantId}`).values()]
  return distinct
    .map(([first]) => first as HoldOf)
    .sort((one, other) => (one.hold.grant.fencingToken < other.hold.grant.fencingToken ? -1 : 1))
}
