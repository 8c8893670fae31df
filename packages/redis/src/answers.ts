import type { AcquireOutcome, Grant, LeaseRecord, LeaseState, RenewRefusal } from '@leasehold/core'

/** What the script says of an operation: a word, then what belongs to it. */
export type Answer = readonly string[]

/** The record that an answer ends with, if it does; the first `skip` words are others. */
export function recordIn(name: string, answer: Answer, skip: number): LeaseRecord | undefined {
  const [state, grantId = '', owner = '', token = '0', ttl = '', remaining = '', metadata = '{}', reason = ''] =
    answer.slice(skip)
  if (state === undefined) return undefined
  return {
    name,
    owner,
    grantId: decodeURIComponent(grantId),
    fencingToken: BigInt(token),
    ttl: durationIn(ttl),
    state: state as LeaseState,
    metadata: metadataIn(metadata, reason),
    ...(remaining === '' ? {} : { remaining: durationIn(remaining) }),
  }
}

/** Who holds the name, in the form that outcomes have it. */
export function holderIn(name: string, answer: Answer, skip: number): { holder?: LeaseRecord } {
  const holder = recordIn(name, answer, skip)
  return holder === undefined ? {} : { holder }
}

export function acquireOutcome(answer: Answer, request: Omit<Grant, 'fencingToken'>): AcquireOutcome {
  const { name, owner, grantId, ttl } = request
  if (answer[0] !== 'granted') return { granted: false, ...holderIn(name, answer, 3) }
  return { granted: true, grant: { name, owner, grantId, fencingToken: BigInt(answer[1] ?? ''), ttl } }
}

export function refusalIn(answer: Answer): RenewRefusal {
  return answer[1] as RenewRefusal
}

/** A duration as the script writes it. */
export function durationIn(text: string): number {
  return text === 'inf' ? Number.POSITIVE_INFINITY : Number(text)
}

/** A duration as the script reads it: whole milliseconds, none cut short. */
export function toDuration(duration: number): string {
  return duration === Number.POSITIVE_INFINITY ? 'inf' : String(Math.ceil(duration))
}

function metadataIn(text: string, reason: string): Readonly<Record<string, string>> {
  const metadata = JSON.parse(text) as Record<string, string>
  return reason === '' ? metadata : { ...metadata, breakReason: reason }
}
