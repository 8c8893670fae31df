import { isLocked, type LeaseRecord } from '@leasehold/core'
import { isDefinitive } from '@leasehold/core/internal'
import type { AcquireOutcome, ReleaseOutcome, RenewOutcome, RenewRefusal } from '@leasehold/core/store'
import { nothingToBreak } from '@leasehold/core/store-kit'
import { agreedRecord, majorityHolder, mostRecent } from './records.js'
import { KIND, type Question, type Tally, undecided } from './tally.js'

/** The outcome of the votes on a request for a grant. */
export type GrantOutcome =
  | { readonly type: 'granted' }
  /** Certainly not granted; `holder` has a majority, if it is known. */
  | { readonly type: 'refused'; readonly holder?: LeaseRecord }
  /** Some servers granted this request, others those of rivals. `isCertain`: this request certainly has no majority. */
  | { readonly type: 'split'; readonly rivals: readonly string[]; readonly isCertain: boolean }

/** `undefined` while more votes may change the outcome. Throws if the votes decide nothing. */
export function grantOutcome(question: Question, tally: Tally<AcquireOutcome>): GrantOutcome | undefined {
  const { values, errors, majority } = tally
  const granted = values.filter((outcome) => outcome.granted).length
  if (granted >= majority) {
    // A later vote may have the largest token, or be one of those that have agreed on theirs.
    return tally.isOpen && agreedToken(tally) === undefined ? undefined : { type: 'granted' }
  }
  const holder = namedHolder(tally)
  if (holder !== undefined) return { type: 'refused', holder }
  if (tally.isOpen) return undefined
  const definitive = errors.filter(isDefinitive).length
  if (definitive >= majority) throw undecided(question, tally)
  const rivals = values.flatMap((outcome) => (outcome.granted ? [] : [outcome.holder?.grantId ?? '']))
  const isCertain = rivals.length + definitive >= majority
  if (granted > 0 && rivals.length > 0) return { type: 'split', rivals, isCertain }
  if (isCertain) return { type: 'refused' }
  if (tally.isFinal) throw undecided(question, tally)
  return undefined
}

/** The holder that the refusals of a majority name. */
function namedHolder(tally: Tally<AcquireOutcome | RenewOutcome | ReleaseOutcome>): LeaseRecord | undefined {
  const holders = tally.values.flatMap((outcome) => ('holder' in outcome ? (outcome.holder ?? []) : []))
  return majorityHolder(holders, tally.majority)
}

/** Returns, by the place of the server, the fencing token under which it has granted the request. */
export function tokensIn(tally: Tally<AcquireOutcome>): (bigint | undefined)[] {
  return tally.votes.map((vote) => {
    return vote !== undefined && 'value' in vote && vote.value.granted ? vote.value.grant.fencingToken : undefined
  })
}

/** The token that a majority has already given, if there is one. */
export function agreedToken(tally: Tally<AcquireOutcome>): bigint | undefined {
  const tokens = tokensIn(tally)
  return tokens.find((token) => {
    return token !== undefined && tokens.filter((other) => other === token).length >= tally.majority
  })
}

/** The reasons by priority: if servers refuse a heartbeat for different reasons, the first of these counts. */
const REASONS: readonly RenewRefusal[] = ['taken', 'broken', 'deleted', 'expired']

/** Refused if a majority refuses: the grant then has no majority, and a heartbeat restores nothing. */
export function renewOutcome(tally: Tally<RenewOutcome>): RenewOutcome | undefined {
  const { values, majority } = tally
  const refusals = values.filter((outcome) => !outcome.renewed)
  if (values.length - refusals.length >= majority) return { renewed: true }
  if (refusals.length < majority) return undefined
  const reason = REASONS.find((each) => refusals.some((refusal) => refusal.reason === each)) ?? 'expired'
  const holder = namedHolder(tally)
  const left = refusals.some((refusal) => refusal.left)
  return { renewed: false, reason, ...(holder === undefined ? {} : { holder }), ...(left && { left }) }
}

/**
 * A server that has answered no longer has the grant: after the answers of a majority, the others are too few for it.
 * Released if at least one server was freed by this request. A repeated release frees none and names no holder.
 */
export function releaseOutcome(question: Question, tally: Tally<ReleaseOutcome>): ReleaseOutcome | undefined {
  const { values, majority } = tally
  const released = values.filter((outcome) => outcome.released).length
  if (released >= majority) return { released: true }
  const holder = namedHolder(tally)
  if (holder !== undefined) return { released: false, holder }
  if (tally.isOpen) return undefined
  if (values.length < majority) throw undecided(question, tally)
  return { released: released > 0 }
}

/** The record, in an object because there may be none. */
export interface ReadOutcome {
  readonly record: LeaseRecord | undefined
}

/**
 * A grant that a majority has under the same token is in force, and a name that is free on a majority is free. Otherwise a
 * grant may begin or end right now: the name counts as locked by an unknown holder.
 */
export function readOutcome(
  question: Question,
  tally: Tally<LeaseRecord | undefined>,
  isAbandoned: (grantId: string) => boolean,
): ReadOutcome | undefined {
  const { values, majority } = tally
  const locked = values.filter(isLocked)
  const holder = agreedRecord(locked, majority)
  if (holder !== undefined) return { record: isAbandoned(holder.grantId) ? anonymous(question, locked) : holder }
  const free = values.filter((record) => !isLocked(record))
  if (free.length >= majority) {
    const records = free.filter((record) => record !== undefined)
    const agreed = agreedRecord(records, majority)
    if (agreed !== undefined || records.length === 0) return { record: agreed }
    // Later votes may complete an agreement.
    return tally.isOpen ? undefined : { record: mostRecent(records) }
  }
  if (tally.isOpen) return undefined
  if (values.length < majority) throw undecided(question, tally)
  return { record: anonymous(question, locked) }
}

function anonymous({ leaseName }: Question, locked: readonly LeaseRecord[]): LeaseRecord {
  const ttl = Math.max(...locked.map(({ ttl = 0 }) => ttl))
  const fencingToken = mostRecent(locked)?.fencingToken ?? 0n
  return { name: leaseName, owner: '', grantId: '', fencingToken, ttl, state: 'leased', metadata: {} }
}

/** The answer of one server: the milliseconds until it is free, or that there was nothing to break. */
export type Broken = { readonly remaining: number } | 'nothing'

/** Broken if a majority has no lease in force: the next heartbeat finds no majority. */
export function breakOutcome(question: Question, tally: Tally<Broken>): { remaining: number } | undefined {
  const { values, majority } = tally
  const broken = values.filter((value) => value !== 'nothing')
  if (broken.length < majority) {
    if (tally.isOpen) return undefined
    if (values.length < majority) throw undecided(question, tally)
    if (broken.length === 0) throw nothingToBreak(question.leaseName, KIND)
  }
  const times = values.map((value) => (value === 'nothing' ? 0 : value.remaining))
  return { remaining: times.toSorted((one, other) => one - other)[majority - 1] ?? 0 }
}
