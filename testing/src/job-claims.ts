import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireRequest } from '@leasehold/core/store'

/** Never aborted. */
export const never = new AbortableCall()

/** A claim of the name `job`. */
export function claimOf(grantId: string, request: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name: 'job', owner: 'anna', grantId, ttl: 10_000, ...request }
}

/** A grant that nothing stands in the way of. */
export async function granted(
  store: Pick<LeaseStore, 'acquire'>,
  grantId: string,
  request?: Partial<AcquireRequest>,
): Promise<Grant> {
  const outcome = await store.acquire(claimOf(grantId, request), never)
  if (!outcome.granted) throw new Error(`held by ${outcome.holder?.owner}`)
  return outcome.grant
}
