import type { Grant, LeaseRecord, LeaseState, Metadata } from '@leasehold/core'
import type { AcquireOutcome, ReleaseOutcome, RenewOutcome, RenewRefusal } from '@leasehold/core/store'
import { GRANTED_AGAIN } from '@leasehold/core/store-kit'

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })
const RELEASED: ReleaseOutcome = Object.freeze({ released: true })
const NO_METADATA: Metadata = Object.freeze({})

/** The answer of the script to one operation: a word, or a word and its details. */
export type Answer = string | readonly string[]

/** Reads the metadata that the last holder left: `<token> <metadata>`, and in a second line the reason of a break. */
export type ReadLeft = (left: string) => Metadata

/** The record at the end of an answer, if there is one; `skip` is the number of words before it. */
export function recordIn(answer: Answer, name: string, readLeft: ReadLeft = leftIn, skip = 1): LeaseRecord | undefined {
  const [
    state,
    grantId = '',
    owner = '',
    token = '0',
    ttl = '',
    remaining = '',
    metadata = '',
    reason = '',
    left = '',
    granted = '',
    waiters = '',
  ] = typeof answer === 'string' ? [] : answer.slice(skip)
  if (state === undefined) return undefined
  return {
    name,
    owner,
    grantId: grantId === '%' ? '' : decodeURIComponent(grantId),
    fencingToken: BigInt(token),
    ttl: durationIn(ttl),
    state: state as LeaseState,
    metadata: metadataIn(metadata, reason),
    ...previousIn(left, readLeft),
    ...(remaining === '' ? {} : { remaining: durationIn(remaining) }),
    ...(granted === '' ? {} : { grantedAt: Math.floor(Number(granted) / 1_000) }),
    ...(waiters === '' ? {} : { waiters: Number(waiters) }),
  }
}

/** A grant that has no fencing token yet. */
export type Claim = Omit<Grant, 'fencingToken'>

/** The holder of the name, as a property of an outcome. */
function holderIn(name: string, answer: Answer, skip: number): { holder?: LeaseRecord } {
  const holder = recordIn(answer, name, leftIn, skip)
  return holder === undefined ? {} : { holder }
}

export function acquireOutcome(answer: Answer, claim: Claim, readLeft: ReadLeft): AcquireOutcome {
  const { name, owner, grantId, ttl } = claim
  // The fast path returns only the token if the last holder left no metadata.
  if (typeof answer === 'string') {
    return { granted: true, grant: { name, owner, grantId, fencingToken: BigInt(answer), ttl }, previous: NO_METADATA }
  }
  const [word, token = '0', left = ''] = answer
  if (word !== 'granted') return { granted: false, ...holderIn(name, answer, 3) }
  return {
    granted: true,
    grant: { name, owner, grantId, fencingToken: BigInt(token), ttl },
    ...previousIn(left, readLeft),
  }
}

export function renewOutcome(answer: Answer, name: string): RenewOutcome {
  if (answer === 'renewed') return RENEWED
  if (answer[0] === 'later') return GRANTED_AGAIN
  return { renewed: false, reason: answer[1] as RenewRefusal, ...holderIn(name, answer, 2) }
}

export function releaseOutcome(answer: Answer, name: string): ReleaseOutcome {
  return answer === 'released' ? RELEASED : { released: false, ...holderIn(name, answer, 1) }
}

/** A duration as the script writes it. */
export function durationIn(text: string): number {
  return text === 'never' ? Number.POSITIVE_INFINITY : Number(text)
}

/** A duration as the script reads it: in whole milliseconds, rounded up. */
export function toDuration(duration: number): string {
  return duration === Number.POSITIVE_INFINITY ? 'never' : String(Math.ceil(duration))
}

/** Grant ids that need no escape, such as GUIDs. */
const plain = /^[\w-]+$/

/** A grant id as the script reads it: without spaces, and not empty. */
export function toGrantId(grantId: string): string {
  if (plain.test(grantId)) return grantId
  return grantId === '' ? '%' : encodeURIComponent(grantId)
}

/** The arguments of a renewal. The token has as many digits as in a record. */
export function toRenewal({ grantId, fencingToken }: Pick<Grant, 'grantId' | 'fencingToken'>): string {
  return `${toGrantId(grantId)} ${String(fencingToken).padStart(16, '0')}`
}

function metadataIn(text: string, reason = ''): Metadata {
  const metadata = text === '' ? {} : (JSON.parse(text) as Metadata)
  return reason === '' ? metadata : { ...metadata, breakReason: reason }
}

function previousIn(left: string, readLeft: ReadLeft): { previous?: Metadata } {
  return left === '' ? {} : { previous: readLeft(left) }
}

/** See `ReadLeft`. */
export function leftIn(left: string): Metadata {
  const end = left.indexOf('\n')
  const text = left.slice(left.indexOf(' ') + 1, end < 0 ? undefined : end)
  return metadataIn(text, end < 0 ? '' : left.slice(end + 1))
}
