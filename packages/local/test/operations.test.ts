import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { LeaseConflictError, type LeaseRecord, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { LocalLeaseStore } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { call, claim, granted, openStore, TTL } from './support/open-store.js'

type State = LeaseRecord['state']

interface Fixture {
  readonly clock: VirtualClock
  readonly store: LocalLeaseStore
}

function setUp(): Fixture {
  const clock = new VirtualClock()
  return { clock, store: openStore({ folder: temporaryFolder(), clock }) }
}

/** Brings the record of the name into a state, under the grant id A. */
async function setUpIn(state: State): Promise<Fixture> {
  const fixture = setUp()
  const { clock, store } = fixture
  const grant = await granted(claim(store, 'A'))
  if (state === 'available') await store.release(grant, call)
  if (state === 'breaking') await store.break('job', { period: TTL / 2 }, call)
  if (state === 'broken') await store.break('job', { period: 0 }, call)
  if (state === 'expired') clock.block(TTL)
  expect(await store.read('job', call)).toMatchObject({ state })
  return fixture
}

/** The token is larger than any that the store gives: the service knows grants by their ids alone. */
const grantOf = (grantId: string) => ({
  name: 'job',
  owner: `owner of ${grantId}`,
  grantId,
  fencingToken: 2n ** 63n,
  ttl: TTL,
})

const actions: Readonly<Record<string, (store: LocalLeaseStore) => Promise<boolean>>> = {
  'acquire (A)': async (store) => (await claim(store, 'A')).granted,
  'acquire (B)': async (store) => (await claim(store, 'B')).granted,
  'break, period 0': (store) => breaks(store, 0),
  'break, period > 0': (store) => breaks(store, 1_000),
  'change (A) to (B)': async (store) => (await store.change(grantOf('A'), { grantId: 'B', owner: 'b' }, call)).granted,
  'change (B) to (A)': async (store) => (await store.change(grantOf('B'), { grantId: 'A', owner: 'a' }, call)).granted,
  'change (B) to (C)': async (store) => (await store.change(grantOf('B'), { grantId: 'C', owner: 'c' }, call)).granted,
  'renew (A)': async (store) => (await store.renew(grantOf('A'), call)).renewed,
  'renew (B)': async (store) => (await store.renew(grantOf('B'), call)).renewed,
  'release (A)': async (store) => (await store.release(grantOf('A'), call)).released,
  'release (B)': async (store) => (await store.release(grantOf('B'), call)).released,
}

async function breaks(store: LocalLeaseStore, period: number): Promise<boolean> {
  try {
    await store.break('job', { period }, call)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(LeaseConflictError)
    return false
  }
}

/** The published outcomes: the state afterwards and under which id, or a refusal. */
const table: readonly (readonly [string, ...(readonly [State, string | undefined])[]])[] = [
  [
    'acquire (A)',
    ['available', 'leased A'],
    ['leased', 'leased A'],
    ['breaking', undefined],
    ['broken', 'leased A'],
    ['expired', 'leased A'],
  ],
  [
    'acquire (B)',
    ['available', 'leased B'],
    ['leased', undefined],
    ['breaking', undefined],
    ['broken', 'leased B'],
    ['expired', 'leased B'],
  ],
  [
    'break, period 0',
    ['available', undefined],
    ['leased', 'broken A'],
    ['breaking', 'broken A'],
    ['broken', 'broken A'],
    ['expired', 'broken A'],
  ],
  [
    'break, period > 0',
    ['available', undefined],
    ['leased', 'breaking A'],
    ['breaking', 'breaking A'],
    ['broken', 'broken A'],
    ['expired', 'broken A'],
  ],
  [
    'change (A) to (B)',
    ['available', undefined],
    ['leased', 'leased B'],
    ['breaking', undefined],
    ['broken', undefined],
    ['expired', undefined],
  ],
  [
    'change (B) to (A)',
    ['available', undefined],
    ['leased', 'leased A'],
    ['breaking', undefined],
    ['broken', undefined],
    ['expired', undefined],
  ],
  [
    'change (B) to (C)',
    ['available', undefined],
    ['leased', undefined],
    ['breaking', undefined],
    ['broken', undefined],
    ['expired', undefined],
  ],
  [
    'renew (A)',
    ['available', undefined],
    ['leased', 'leased A'],
    ['breaking', undefined],
    ['broken', undefined],
    ['expired', 'leased A'],
  ],
  [
    'renew (B)',
    ['available', undefined],
    ['leased', undefined],
    ['breaking', undefined],
    ['broken', undefined],
    ['expired', undefined],
  ],
  [
    'release (A)',
    ['available', undefined],
    ['leased', 'available A'],
    ['breaking', 'available A'],
    ['broken', 'available A'],
    ['expired', 'available A'],
  ],
  [
    'release (B)',
    ['available', undefined],
    ['leased', undefined],
    ['breaking', undefined],
    ['broken', undefined],
    ['expired', undefined],
  ],
]

const cells = table.flatMap(([action, ...outcomes]) =>
  outcomes.map(([state, outcome]) => ({ action, state, outcome, shown: outcome ?? 'refused, nothing changed' })),
)

describe('outcomes of lease operations, as published for a Lease Blob', () => {
  it.each(cells)('$action on $state (A): $shown', async ({ action, state, outcome }) => {
    const { store } = await setUpIn(state)
    const before = await store.read('job', call)
    expect(await actions[action]?.(store)).toBe(outcome !== undefined)
    const after = await store.read('job', call)
    if (outcome === undefined) expect(after).toEqual(before)
    else expect(`${after?.state} ${after?.grantId}`).toBe(outcome)
  })

  it.each([
    ['leased', TTL, 'expired'],
    ['breaking', TTL / 2, 'broken'],
  ] as const)('%s, when its time is up: %s ms later %s', async (state, duration, next) => {
    const { clock, store } = await setUpIn(state)
    clock.block(duration - 1)
    expect(await store.read('job', call)).toMatchObject({ state, remaining: 1 })
    clock.block(1)
    expect(await store.read('job', call)).toMatchObject({ state: next })
  })
})

describe('LocalLeaseStore', () => {
  it('has no record of a new name, and keeps metadata', async () => {
    const { store } = setUp()
    expect(await store.read('job', call)).toBeUndefined()
    expect(await store.release(grantOf('A'), call)).toEqual({ released: false })
    expect(await store.renew(grantOf('A'), call)).toEqual({ renewed: false, reason: 'deleted' })
    await claim(store, 'A', { metadata: { version: '7' } })
    expect(await store.read('job', call)).toMatchObject({ metadata: { version: '7' } })
  })

  it('keeps names apart, whichever characters they have', async () => {
    const { store } = setUp()
    const names = ['a', 'A', 'a ', 'é', 'e\u0301', '\u0000', '../a', '任务', 'x'.repeat(1_024), '🔒'.repeat(256)]
    for (const name of names)
      expect((await claim(store, `grant of ${[...name].slice(0, 9).join('')}`, { name })).granted).toBe(true)
    for (const name of names) expect((await claim(store, 'B', { name })).granted).toBe(false)
  })

  it('holds a lease that does not expire until it is broken', async () => {
    const { clock, store } = setUp()
    await claim(store, 'A', { ttl: Number.POSITIVE_INFINITY })
    clock.block(1e10)
    expect(await store.read('job', call)).toMatchObject({ state: 'leased', remaining: Number.POSITIVE_INFINITY })
    expect(await store.break('job', {}, call)).toEqual({ remaining: 0 })
    expect((await claim(store, 'B')).granted).toBe(true)
  })

  it('renews many grants at once, each with its own outcome, in order', async () => {
    const { store } = setUp()
    const grants = await Promise.all([1, 2, 3].map((n) => granted(claim(store, `g${n}`, { name: `n${n}` }))))
    const [first, second, third] = grants
    if (first === undefined || second === undefined || third === undefined) throw new Error('three grants')
    await store.release(second, call)
    expect(await store.renewMany([third, second, first], call)).toMatchObject([
      { renewed: true },
      { renewed: false },
      { renewed: true },
    ])
  })

  it('rejects an operation that was aborted before it began, and all operations after close', async () => {
    const { store } = setUp()
    const given = new AbortableCall()
    const acquired = store.acquire({ name: 'job', owner: 'o', grantId: 'A', ttl: TTL }, given)
    given.abort(new Error('enough'))
    await expect(acquired).rejects.toThrow('enough')
    expect(await store.read('job', call)).toBeUndefined()
    await store.close()
    await expect(claim(store, 'A')).rejects.toBeInstanceOf(LeaseUnavailableError)
  })

  it.each(['the database', 'every file', 'the folder'])(
    'continues after %s was deleted while two stores of the process had it open',
    async (deleted) => {
      const folder = temporaryFolder()
      const [a, b] = [openStore({ folder }), openStore({ folder })]
      const before = await granted(claim(a, 'A'))
      // Without any file, tokens continue from the wall clock: by milliseconds.
      await pause(2)
      if (deleted === 'the folder') rmSync(folder, { recursive: true })
      for (const file of existsSync(folder) ? readdirSync(folder) : []) {
        if (deleted === 'every file' || file.endsWith('.mdb')) rmSync(join(folder, file))
      }
      const after = await granted(claim(a, 'B'))
      expect(after.fencingToken).toBeGreaterThan(before.fencingToken)
      expect((await claim(b, 'C')).granted).toBe(false)
      expect(await b.renew(after, call)).toEqual({ renewed: true })
      expect(await b.release(after, call)).toEqual({ released: true })
      expect((await claim(b, 'C')).granted).toBe(true)
    },
  )
})
