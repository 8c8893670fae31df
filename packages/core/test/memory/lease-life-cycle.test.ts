import { LeaseConflictError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { cellsOf, LEASE_TABLE } from './lease-blob-tables.js'
import { grantOf, IDS, type Letter, NAME, type Scene, sceneIn, stateOf, TTL } from './lease-states.js'

async function acquire({ store }: Scene, letter: Letter): Promise<boolean> {
  const outcome = await store.acquire({ name: NAME, owner: letter, grantId: IDS[letter], ttl: TTL })
  return outcome.granted
}

async function acquireWithoutId({ store }: Scene): Promise<boolean> {
  const outcome = await store.acquire({ name: NAME, owner: 'X', ttl: TTL })
  return outcome.granted
}

async function breakLease({ store }: Scene, period?: number): Promise<boolean> {
  try {
    await store.break(NAME, period === undefined ? {} : { period })
    return true
  } catch (error) {
    if (error instanceof LeaseConflictError) return false
    throw error
  }
}

async function change({ store }: Scene, from: Letter, to: Letter): Promise<boolean> {
  const outcome = await store.change(grantOf(from), { grantId: IDS[to], owner: to })
  return outcome.granted
}

async function renew({ store }: Scene, letter: Letter): Promise<boolean> {
  const outcome = await store.renew(grantOf(letter))
  return outcome.renewed
}

async function release({ store }: Scene, letter: Letter): Promise<boolean> {
  const outcome = await store.release(grantOf(letter))
  return outcome.released
}

async function expire({ clock }: Scene): Promise<boolean> {
  await clock.advance(TTL)
  return true
}

/** The actions of the table; `false` is its 409. */
const ACTIONS: ReadonlyMap<string, (scene: Scene) => Promise<boolean>> = new Map([
  ['acquire, no proposed id', acquireWithoutId],
  ['acquire (A)', (scene) => acquire(scene, 'A')],
  ['acquire (B)', (scene) => acquire(scene, 'B')],
  ['break, period = 0', (scene) => breakLease(scene, 0)],
  ['break, period > 0', (scene) => breakLease(scene, 1_000)],
  ['break, no period', (scene) => breakLease(scene)],
  ['change (A) to (B)', (scene) => change(scene, 'A', 'B')],
  ['change (B) to (A)', (scene) => change(scene, 'B', 'A')],
  ['change (B) to (C)', (scene) => change(scene, 'B', 'C')],
  ['renew (A)', (scene) => renew(scene, 'A')],
  ['renew (B)', (scene) => renew(scene, 'B')],
  ['release (A)', (scene) => release(scene, 'A')],
  ['release (B)', (scene) => release(scene, 'B')],
  ['duration expires', expire],
])

describe('the life cycle of a lease', () => {
  it.each(cellsOf(LEASE_TABLE, ACTIONS))('$action | $column → $expected', async ({ act, column, expected }) => {
    const scene = await sceneIn(column)
    const before = await scene.store.read(NAME)
    const succeeded = await act(scene)
    expect(succeeded ? await stateOf(scene) : '409').toBe(expected)
    if (!succeeded) expect(await scene.store.read(NAME)).toEqual(before)
  })

  it('renew (A), leased and released by another since | expired (A) → 409', async () => {
    const scene = await sceneIn('expired (A)')
    await acquire(scene, 'B')
    await release(scene, 'B')
    expect(await scene.store.renew(grantOf('A'))).toEqual({ renewed: false, reason: 'taken' })
  })
})

describe('the time of a lease', () => {
  it('acquire (A) again sets a new duration, shorter or longer', async () => {
    const scene = await sceneIn('leased (A)')
    const again = { name: NAME, owner: 'A', grantId: IDS.A }
    expect(await scene.store.acquire({ ...again, ttl: 60_000 })).toMatchObject({
      granted: true,
      grant: { ttl: 60_000 },
    })
    expect(await scene.store.read(NAME)).toMatchObject({ ttl: 60_000, remaining: 60_000 })
    await scene.store.acquire({ ...again, ttl: 20_000 })
    expect(await scene.store.read(NAME)).toMatchObject({ ttl: 20_000, remaining: 20_000 })
    await scene.clock.advance(20_000)
    expect(await stateOf(scene)).toBe('expired (A)')
  })

  it('renew resets the clock to the recorded duration', async () => {
    const scene = await sceneIn('leased (A)')
    await scene.clock.advance(14_999)
    await scene.store.renew({ ...grantOf('A'), ttl: 60_000 })
    expect(await scene.store.read(NAME)).toMatchObject({ remaining: TTL })
    await scene.clock.advance(14_999)
    expect(await stateOf(scene)).toBe('leased (A)')
    await scene.clock.advance(1)
    expect(await stateOf(scene)).toBe('expired (A)')
  })

  it('change restarts the ttl', async () => {
    const scene = await sceneIn('leased (A)')
    await scene.clock.advance(10_000)
    await change(scene, 'A', 'B')
    expect(await scene.store.read(NAME)).toMatchObject({ owner: 'B', ttl: TTL, remaining: TTL })
  })

  it('a suspend of the machine counts', async () => {
    const scene = await sceneIn('leased (A)')
    scene.clock.suspend(TTL)
    expect(await stateOf(scene)).toBe('expired (A)')
  })

  it.each([
    { period: 4_000, remaining: 4_000 },
    { period: 40_000, remaining: 10_000 },
    { period: undefined, remaining: 10_000 },
    { period: 0, remaining: 0 },
  ])('break with a period of $period with 10,000 ms left locks for $remaining more', async ({ period, remaining }) => {
    const scene = await sceneIn('leased (A)')
    await scene.clock.advance(5_000)
    expect(await scene.store.break(NAME, period === undefined ? {} : { period })).toEqual({ remaining })
    await scene.clock.advance(Math.max(remaining - 1, 0))
    expect(await stateOf(scene)).toBe(remaining === 0 ? 'broken (A)' : 'breaking (A)')
    await scene.clock.advance(1)
    expect(await stateOf(scene)).toBe('broken (A)')
  })

  it.each([
    { period: 60_000, remaining: 5_000 },
    { period: 1_000, remaining: 1_000 },
    { period: undefined, remaining: 5_000 },
  ])('break again with a period of $period can only shorten: $remaining left', async ({ period, remaining }) => {
    const scene = await sceneIn('breaking (A)')
    expect(await scene.store.break(NAME, period === undefined ? {} : { period })).toEqual({ remaining })
  })

  it.each(['broken (A)', 'expired (A)'] as const)('break of %s leaves nothing to wait for', async (column) => {
    const scene = await sceneIn(column)
    await scene.clock.advance(1_000)
    expect(await scene.store.break(NAME, { period: 60_000 })).toEqual({ remaining: 0 })
  })
})

describe('an infinite lease', () => {
  async function infinite(): Promise<Scene> {
    const scene = await sceneIn('available')
    await scene.store.acquire({ name: NAME, owner: 'A', grantId: IDS.A, ttl: Number.POSITIVE_INFINITY })
    return scene
  }

  it('never expires', async () => {
    const scene = await infinite()
    await scene.clock.advance(Number.MAX_SAFE_INTEGER)
    expect(await stateOf(scene)).toBe('leased (A)')
    expect(await scene.store.read(NAME)).toMatchObject({
      ttl: Number.POSITIVE_INFINITY,
      remaining: Number.POSITIVE_INFINITY,
    })
    expect(await renew(scene, 'A')).toBe(true)
    expect(await acquire(scene, 'B')).toBe(false)
  })

  it('without a period breaks at once', async () => {
    const scene = await infinite()
    expect(await scene.store.break(NAME)).toEqual({ remaining: 0 })
    expect(await stateOf(scene)).toBe('broken (A)')
  })

  it('with a period is locked for the whole of it', async () => {
    const scene = await infinite()
    expect(await scene.store.break(NAME, { period: 60_000 })).toEqual({ remaining: 60_000 })
    await scene.clock.advance(20_000)
    expect(await scene.store.break(NAME)).toEqual({ remaining: 40_000 })
    await scene.clock.advance(40_000)
    expect(await stateOf(scene)).toBe('broken (A)')
  })

  it('becomes finite, and infinite again, by acquiring under the same id', async () => {
    const scene = await infinite()
    await acquire(scene, 'A')
    expect(await scene.store.read(NAME)).toMatchObject({ remaining: TTL })
    await scene.store.acquire({ name: NAME, owner: 'A', grantId: IDS.A, ttl: Number.POSITIVE_INFINITY })
    expect(await scene.store.read(NAME)).toMatchObject({ remaining: Number.POSITIVE_INFINITY })
  })
})
