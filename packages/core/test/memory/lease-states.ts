import type { Grant, LeaseState } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { MemoryLeaseStore } from '../../src/memory/memory-lease-store.js'
import type { Column } from './lease-blob-tables.js'

export const NAME = 'invoices'
export const TTL = 15_000

/** The lease ids of the tables, by their letters. */
export const IDS = {
  A: '0d5a4d6c-5bd1-4a5c-8f7a-0c8a3f0b6a01',
  B: '0d5a4d6c-5bd1-4a5c-8f7a-0c8a3f0b6b02',
  C: '0d5a4d6c-5bd1-4a5c-8f7a-0c8a3f0b6c03',
} as const

export type Letter = keyof typeof IDS

export interface Scene {
  readonly clock: VirtualClock
  readonly store: MemoryLeaseStore
}

/** The grant of the owner with this id. */
export function grantOf(letter: Letter): Grant {
  return { name: NAME, owner: letter, grantId: IDS[letter], fencingToken: 1n, ttl: TTL }
}

/** A store with the lease in the state of the column. */
export async function sceneIn(column: Column): Promise<Scene> {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  if (column === 'available') return { clock, store }
  await store.acquire({ name: NAME, owner: 'A', grantId: IDS.A, ttl: TTL })
  if (column === 'available, released') await store.release(grantOf('A'))
  if (column === 'breaking (A)') await store.break(NAME, { period: 5_000 })
  if (column === 'broken (A)') await store.break(NAME, { period: 0 })
  if (column === 'expired (A)') await clock.advance(TTL)
  return { clock, store }
}

/** The state as the tables write it: with the letter of the id, X for one that the service has made. */
export async function stateOf({ store }: Scene): Promise<string> {
  const record = await store.read(NAME)
  const state: LeaseState = record?.state ?? 'available'
  if (record === undefined || state === 'available') return state
  const letter = (['A', 'B', 'C'] as const).find((candidate) => IDS[candidate] === record.grantId) ?? 'X'
  return `${state} (${letter})`
}
