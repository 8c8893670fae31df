import { randomUUID } from 'node:crypto'
import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireRequest } from '@leasehold/core/store'
import { expect } from 'vitest'

/** A call without an end. */
export const never = new AbortableCall()

/** In milliseconds. */
export const TTL = 10_000

export function claimOf(name: string, claim: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name, owner: randomUUID(), grantId: randomUUID(), ttl: TTL, ...claim }
}

/** A grant that the store has to give. */
export async function granted(store: LeaseStore, name: string, claim: Partial<AcquireRequest> = {}): Promise<Grant> {
  const outcome = await store.acquire(claimOf(name, claim), never)
  if (!outcome.granted) expect.fail(`'${name}' was not granted`)
  return outcome.grant
}

/** The names of all leases. */
export async function listed(store: LeaseStore): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of store.list?.('', never) ?? []) names.push(name)
  return names
}
