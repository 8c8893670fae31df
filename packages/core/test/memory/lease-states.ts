import type { Grant, LeaseState } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { expect } from 'vitest'
import { MemoryLeaseStore } from '../../src/memory/memory-lease-store.js'

export const NAME = 'invoices'
export const TTL = 15_000

/** The lease ids of the tables, by their letters. */
export const IDS = {
  A: '0d5a4d6c-5bd1-4a5c-8f7a-0c8a3f0b6a01',
  B: '0d5a4d6c-5bd1-4a5c-8f7a-0c8a3f0b6b02',
  C: '0d5a4d6c-5bd1-4a5c-8f7a-0c8a3f0b6c03',
} as const

export type Letter = keyof typeof IDS

/** The columns of both tables; a lease can be available because it never was leased, or because it was released. */
const COLUMNS = ['available', 'available, released', 'leased (A)', 'breaking (A)', 'broken (A)', 'expired (A)'] as const

export type Column = (typeof COLUMNS)[number]

export interface Scene {
  readonly clock: VirtualClock
  readonly store: MemoryLeaseStore
}

/** A grant as whoever has this id remembers it. */
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

export interface Cell<Action> {
  readonly action: string
  readonly act: Action
  readonly column: Column
  readonly expected: string
}

/**
 * The cells of a table written as in the reference: an action a line and then five columns, of which the first stands
 * for both ways of being available.
 */
export function cellsOf<Action>(table: string, actions: ReadonlyMap<string, Action>): readonly Cell<Action>[] {
  const [header, ...rows] = table.trim().split('\n').map(rowOf)
  expect(header).toEqual(['action', ...COLUMNS.filter((column) => column !== 'available, released')])
  const names = rows.map(([action]) => action)
  expect(names).toEqual([...actions.keys()])
  return rows.flatMap(([action = '', available = '', ...others]) => {
    const act = actions.get(action)
    const outcomes = [available, available, ...others]
    if (act === undefined || outcomes.length !== COLUMNS.length) throw new Error(`the row '${action}' is not complete`)
    return COLUMNS.map((column, place) => ({ action, act, column, expected: outcomes[place] ?? '' }))
  })
}

function rowOf(line: string): readonly string[] {
  return line.split('|').map((cell) => cell.trim())
}
