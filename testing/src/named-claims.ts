import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireRequest } from '@leasehold/core/store'

/** Never aborted. */
export const never = new AbortableCall()
setMaxListeners(0, never.signal)

/** A claim of this name, under a grant id of its own. */
export function claimOf(name: string, request: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name, owner: 'anna', grantId: randomUUID(), ttl: 10_000, ...request }
}

/** A grant that nothing stands in the way of. */
export async function granted(store: LeaseStore, name: string, request: Partial<AcquireRequest> = {}): Promise<Grant> {
  const outcome = await store.acquire(claimOf(name, request), never)
  if (!outcome.granted) throw new Error(`'${name}' is held by ${outcome.holder?.owner}`)
  return outcome.grant
}
