import { type Recording, type Replay, replay } from '@leasehold/recorder/internal'
import { durationText } from '../duration-text.js'
import { alignClocks } from './align.js'
import type { Finding } from './causes.js'
import { type Disappearance, disappearances, holdsOf } from './crashes.js'
import { diagnose } from './diagnosis.js'
import { type LeaseStory, type Loss, type ProcessStory, processStories } from './process-story.js'
import { fencedHolds } from './self-fences.js'

/** Why one grant ended. */
export interface Verdict {
  readonly lease: string
  readonly owner: string
  readonly token: bigint
  /** When it ended, on the wall clock; milliseconds since 1970. */
  readonly at: number
  readonly finding: Finding
  /** Why; who held the lease when; how close it was. */
  readonly sentences: readonly [why: string, who: string, close: string]
}

export interface Explanation {
  readonly processes: readonly ProcessStory[]
  /** In the order of time. */
  readonly verdicts: readonly Verdict[]
  readonly replay: Replay
}

/** Puts the recordings together, and says why leases were lost. `name`: only this lease. */
export function explain(recordings: readonly Recording[], name?: string): Explanation {
  const processes = processStories(recordings)
  alignClocks(processes)
  const fenced = fenceVerdicts(recordings, processes)
  const isFenced = ({ lease, token }: Verdict): boolean =>
    fenced.some((verdict) => verdict.lease === lease && verdict.token === token)
  const ended = [...lossVerdicts(processes), ...crashVerdicts(processes)].filter((verdict) => !isFenced(verdict))
  const verdicts = [...fenced, ...ended]
    .filter(({ lease }) => name === undefined || lease === name)
    .sort((one, other) => one.at - other.at)
  return { processes, verdicts, replay: replay(recordings) }
}

function lossVerdicts(processes: readonly ProcessStory[]): readonly Verdict[] {
  return processes.flatMap((process) =>
    process.leases.flatMap((lease) =>
      lease.losses.map((loss) => {
        const finding = diagnose(process, lease, loss, processes)
        const at = loss.at + process.shift
        const who = `'${lease.owner}' (${process.label})`
        const why = `The lease '${lease.name}' was lost by ${who} at ${clockText(at)} because ${finding.because}.`
        return {
          ...{ lease: lease.name, owner: lease.owner, token: loss.hold.grant.fencingToken, at, finding },
          sentences: [
            why,
            holdersText(processes, lease.name, loss.hold.grant.fencingToken),
            closeText(lease, loss, process),
          ],
        }
      }),
    ),
  )
}

function crashVerdicts(processes: readonly ProcessStory[]): readonly Verdict[] {
  return disappearances(processes).map((gone) => {
    const { name, owner, token, at, finding } = gone
    const why = `The lease '${name}' of '${owner}' expired because ${finding.because}.`
    return {
      lease: name,
      owner,
      token,
      at,
      finding,
      sentences: [why, holdersText(processes, name, token), goneText(gone)],
    }
  })
}

function fenceVerdicts(recordings: readonly Recording[], processes: readonly ProcessStory[]): readonly Verdict[] {
  return fencedHolds(recordings, processes).map(({ process, name, owner, token, at, silentSince, finding }) => {
    const end = clockText(at + process.shift)
    const why = `The lease '${name}' of '${owner}' (${process.label}) ended at ${end} because ${finding.because}.`
    const close = `Its event loop was last seen to turn at ${clockText(silentSince + process.shift)}, and the process was ended before anyone else could be granted.`
    const sentences = [why, holdersText(processes, name, token), close] as const
    return { lease: name, owner, token, at: at + process.shift, finding, sentences }
  })
}

function goneText({ renewedAt, at, next }: Disappearance): string {
  return (
    `It was last renewed at ${clockText(renewedAt)} or before, so the name had no active holder for up to ` +
    `${durationText(at - renewedAt)}, until '${next.owner}' (${next.process.label}) was granted it.`
  )
}

/** The grant, and the one after it. */
function holdersText(processes: readonly ProcessStory[], name: string, token: bigint): string {
  const holds = holdsOf(processes, name)
  const own = holds.find(({ hold }) => hold.grant.fencingToken === token)
  const next = holds.find(({ hold }) => hold.grant.fencingToken > token)
  // The right to act ends with the validity, even if the holder notices the loss later.
  const end = own === undefined ? undefined : Math.min(own.hold.to ?? own.hold.validUntil, own.hold.validUntil)
  const to = own === undefined || end === undefined ? undefined : end + own.process.shift
  const held =
    own === undefined || to === undefined
      ? `The grant with the fencing token ${token} is in no recording`
      : `'${own.owner}' held it from ${clockText(own.hold.from + own.process.shift)} to ${clockText(to)} with the fencing token ${token}`
  if (next === undefined) return `${held}; no recording shows a later holder.`
  const from = next.hold.from + next.process.shift
  const gap = to === undefined ? '' : gapText(from - to)
  const nextHolder = `'${next.owner}' (${next.process.label})`
  return `${held}; ${gap}${nextHolder} had it from ${clockText(from)} with the token ${next.hold.grant.fencingToken}.`
}

function gapText(gap: number): string {
  return gap >= 1 ? `then nobody for ${durationText(gap)}, and ` : ''
}

function closeText(lease: LeaseStory, { hold, lost, at }: Loss, { shift }: ProcessStory): string {
  const confirmed = clockText(hold.confirmedAt + shift)
  const end = clockText(hold.validUntil + shift)
  const left = hold.validUntil - at
  if (left > 0) {
    return `The last heartbeat that the store confirmed was sent at ${confirmed}; the holder stopped with ${durationText(left)} of its validity left.`
  }
  const repeats = lease.calls.filter(({ sentAt }) => sentAt > hold.confirmedAt && sentAt < hold.validUntil).length
  const tries =
    repeats === 0
      ? 'no heartbeat was sent after it'
      : `${repeats} later ${repeats === 1 ? 'call was' : 'calls were'} not confirmed`
  const late = -left < 1 ? 'at once' : `${durationText(-left)} later`
  return (
    `The last heartbeat that the store confirmed was sent at ${confirmed}, and ${tries}; the validity ended at ${end}, and ` +
    `the loss was noticed ${late} (${lost.reason}).`
  )
}

/** The time of day in UTC, with milliseconds. */
export function clockText(at: number): string {
  return new Date(at).toISOString().slice(11, 23)
}
