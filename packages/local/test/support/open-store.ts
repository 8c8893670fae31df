import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type AcquireRequest } from '@leasehold/core/store'
import { LocalLeaseStore, type LocalLeaseStoreOptions } from '@leasehold/local'
import type { Finishing } from '@leasehold/testing'
import { onTestFinished } from 'vitest'

export const TTL = 10_000
/** It is never aborted, so tests may share it. */
export const call = new AbortableCall()

/** A store that is closed at the end of the test. */
export function openStore(options: LocalLeaseStoreOptions, test: Finishing = { onTestFinished }): LocalLeaseStore {
  const store = new LocalLeaseStore(options)
  test.onTestFinished(() => store.close())
  return store
}

export function claim(
  store: LeaseStore,
  grantId: string,
  request: Partial<AcquireRequest> = {},
): Promise<AcquireOutcome> {
  return store.acquire({ name: 'job', owner: `owner of ${grantId}`, grantId, ttl: TTL, ...request }, call)
}

export async function granted(outcome: Promise<AcquireOutcome>): Promise<Grant> {
  const answer = await outcome
  if (!answer.granted) throw new Error('not granted')
  return answer.grant
}
