import { isLocked, type Metadata, type StoreLease } from '@leasehold/core'
import type { Turnstile } from './turnstile.js'
import { countFrom } from './turnstile-record.js'

/** The number that a resize asks for. It is in the record of a lease beside the turnstile, which the resize holds. */
export interface ResizeWish {
  readonly count: number
  /** Names the change of the number that it asks for. */
  readonly change: string
}

/** The metadata with which a resize acquires its lease. */
export function wishMetadata(count: number): Metadata {
  return { permits: String(count) }
}

/** The name of the change that the holder of the lease asks for. */
export function changeOf({ fencingToken }: Pick<StoreLease, 'fencingToken'>): string {
  return `resize-${fencingToken}`
}

/** The resize that is asked for now; `undefined` if there is none. Rejects where the store does not answer. */
export async function readWish(turnstile: Turnstile, signal: AbortSignal): Promise<ResizeWish | undefined> {
  const record = await turnstile.readKnownRecord('resize', signal)
  if (!isLocked(record)) return undefined
  const count = countFrom(record.metadata?.permits)
  return count === undefined ? undefined : { count, change: changeOf(record) }
}
