import { randomUUID } from 'node:crypto'
import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireRequest } from '@leasehold/core/store'

/** Never aborted. */
export const never = new AbortableCall()

/** A claim of a name of its own. */
export function claimOf(request: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name: randomUUID(), owner: 'anna', grantId: randomUUID(), ttl: 60_000, ...request }
}

/** A grant of a name that is free. */
export async function granted(store: LeaseStore, request?: Partial<AcquireRequest>): Promise<Grant> {
  const outcome = await store.acquire(claimOf(request), never)
  if (!outcome.granted) throw new Error(`held by ${outcome.holder?.owner}`)
  return outcome.grant
}
