import type {
  AcquireOutcome,
  Grant,
  LeaseRecord,
  LeaseState,
  ReleaseOutcome,
  RenewOutcome,
  RenewRefusal,
} from '@leasehold/core'

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })
const RELEASED: ReleaseOutcome = Object.freeze({ released: true })

/** What the script says of an operation: a text, or a word and what belongs to it. */
export type Answer = string | readonly string[]

/** The record that an answer ends with, if it does; the first `skip` words are others. */
function recordIn(name: string, answer: Answer, skip: number): LeaseRecord | undefined {
  const [state, grantId = '', owner = '', token = '0', ttl = '', remaining = '', metadata = '{}', reason = ''] =
    typeof answer === 'string' ? [] : answer.slice(skip)
  if (state === undefined) return undefined
  return {
    name,
    owner,
    grantId: fromGrantId(grantId),
    fencingToken: BigInt(token),
    ttl: durationIn(ttl),
    state: state as LeaseState,
    metadata: metadataIn(metadata, reason),
    ...(remaining === '' ? {} : { remaining: durationIn(remaining) }),
  }
}

/** Who holds the name, in the form that outcomes have it. */
function holderIn(name: string, answer: Answer, skip: number): { holder?: LeaseRecord } {
  const holder = recordIn(name, answer, skip)
  return holder === undefined ? {} : { holder }
}

export function acquireOutcome(answer: Answer, request: Omit<Grant, 'fencingToken'>): AcquireOutcome {
  const { name, owner, grantId, ttl } = request
  // The fast path says the token and no more.
  const token = typeof answer === 'string' ? answer : answer[0] === 'granted' ? answer[1] : undefined
  if (token === undefined) return { granted: false, ...holderIn(name, answer, 3) }
  return { granted: true, grant: { name, owner, grantId, fencingToken: BigInt(token), ttl } }
}

export function renewOutcome(answer: Answer, name: string): RenewOutcome {
  if (answer === 'renewed') return RENEWED
  return { renewed: false, reason: answer[1] as RenewRefusal, ...holderIn(name, answer, 2) }
}

export function releaseOutcome(answer: Answer, name: string): ReleaseOutcome {
  return answer === 'released' ? RELEASED : { released: false, ...holderIn(name, answer, 1) }
}

export function readOutcome(answer: Answer, name: string): LeaseRecord | undefined {
  return recordIn(name, answer, 1)
}

/** The floor of a member of a quorum, and its clock, in microseconds. */
export interface Floor {
  /** `undefined` where the member has lost its data, or was never used. */
  readonly floor: bigint | undefined
  readonly now: bigint
}

export function floorOutcome(answer: Answer): Floor {
  const [, floor = '', now = '0'] = answer
  return { floor: floor === '' ? undefined : BigInt(floor), now: BigInt(now) }
}

/** A duration as the script writes it. */
export function durationIn(text: string): number {
  return text === 'never' ? Number.POSITIVE_INFINITY : Number(text)
}

/** A duration as the script reads it: whole milliseconds, none cut short. */
export function toDuration(duration: number): string {
  return duration === Number.POSITIVE_INFINITY ? 'never' : String(Math.ceil(duration))
}

/** What stands for itself; a GUID does. */
const plain = /^[\w-]+$/

/** A grant id as the script knows it: without spaces, and not empty. */
export function toGrantId(grantId: string): string {
  if (plain.test(grantId)) return grantId
  return grantId === '' ? '%' : encodeURIComponent(grantId)
}

function fromGrantId(text: string): string {
  return text === '%' ? '' : decodeURIComponent(text)
}

function metadataIn(text: string, reason: string): Readonly<Record<string, string>> {
  const metadata = JSON.parse(text) as Record<string, string>
  return reason === '' ? metadata : { ...metadata, breakReason: reason }
}
