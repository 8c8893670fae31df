import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { MapRegister } from './map-register.js'

const TTL = 10_000
const MARGIN = 25
const call = new AbortableCall()

/** A register with one version counter, which no deletion resets. */
function setUp() {
  const clock = new VirtualClock()
  const register = Object.assign(new MapRegister(), { tokenOf: (version: number) => BigInt(version) })
  const open = () => casStore(register, { clock, probe: false })
  return { clock, register, open, store: open() }
}

async function held(store: LeaseStore, grantId: string, name = 'job'): Promise<Grant> {
  const outcome = await store.acquire({ name, owner: `o-${grantId}`, grantId, ttl: TTL }, call)
  if (!outcome.granted) throw new Error('not granted')
  return outcome.grant
}

describe('fencing tokens that are versions', () => {
  it('are the version of the granting write, for a new name the version of its creation', async () => {
    const { register, store } = setUp()
    const first = await held(store, 'a')
    expect(register.calls).toEqual(['read', 'create'])
    expect(first.fencingToken).toBe(1n)
    await store.renew(first, call)
    await store.release(first, call)
    expect((await held(store, 'b')).fencingToken).toBe(4n)
    expect((await held(store, 'c', 'other')).fencingToken).toBe(5n)
  })

  it('do not change with heartbeats, for all readers', async () => {
    const { register, store, open } = setUp()
    const grant = await held(store, 'a')
    expect(register.recordOf('job').fencingToken).toBe(0n)
    expect((await open().read('job', call))?.fencingToken).toBe(1n)
    for (let beat = 0; beat < 3; beat += 1) await store.renew(grant, call)
    expect((await open().read('job', call))?.fencingToken).toBe(1n)
  })

  it('grow over a deletion, and over the expiry of a grant under the same id', async () => {
    const { clock, register, store } = setUp()
    const first = await held(store, 'a')
    await store.renew(first, call)
    register.delete('job')
    const second = await held(store, 'a')
    await store.renew(second, call)
    clock.block(TTL + MARGIN)
    const third = await held(store, 'a')
    expect([first, second, third].map(({ fencingToken }) => fencingToken)).toEqual([1n, 3n, 5n])
  })

  it('of a grant with a lost answer are found by the version of the record', async () => {
    const { register, store, open } = setUp()
    register.faults.push(...([undefined, 'lose-answer'] as never[]))
    await expect(held(store, 'a')).rejects.toThrow('connection reset')
    expect((await held(store, 'a')).fencingToken).toBe(1n)
    // The next write puts it into the record.
    expect((await open().read('job', call))?.fencingToken).toBe(1n)
  })

  it('are kept by the holder if another program writes the record before the first heartbeat', async () => {
    const { register, store, open } = setUp()
    const grant = await held(store, 'a')
    register.write('job', register.recordOf('job'))
    expect((await open().read('job', call))?.fencingToken).toBe(2n)
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    expect((await open().read('job', call))?.fencingToken).toBe(grant.fencingToken)
  })

  it('are granted to one of many concurrent challengers of a new name', async () => {
    const { open } = setUp()
    const asked = Array.from({ length: 5 }, (_, place) =>
      open().acquire({ name: 'job', owner: 'o', grantId: `${place}`, ttl: TTL }, call),
    )
    expect((await Promise.all(asked)).filter(({ granted }) => granted).length).toBe(1)
  })

  it('grow with a change, and are the same when the change is repeated', async () => {
    const { store } = setUp()
    const grant = await held(store, 'a')
    const to = { grantId: 'b', owner: 'you' }
    const changed = await store.change(grant, to, call)
    expect(changed).toMatchObject({ granted: true, grant: { ...to, fencingToken: 2n } })
    expect(await store.change(grant, to, call)).toEqual(changed)
  })

  it('that were raised above the versions count on in the records, until the versions have passed them', async () => {
    const { register, store, open } = setUp()
    const other = open()
    const first = await held(store, 'a')
    expect(await store.raiseToken?.(first, 6n, call)).toEqual({ renewed: true })
    await store.release({ ...first, fencingToken: 6n }, call)
    const second = await held(other, 'b')
    // Version 4.
    expect([second.fencingToken, register.recordOf('job').fencingToken]).toEqual([7n, 7n])
    for (let beat = 0; beat < 2; beat += 1) await other.renew(second, call)
    await other.release(second, call)
    const third = await held(store, 'c')
    expect([third.fencingToken, register.recordOf('job').fencingToken]).toEqual([8n, 0n])
  })

  it('cannot be raised where other programs drop them', () => {
    const register = Object.assign(new MapRegister(), { losesTokens: true })
    expect(casStore(register).raiseToken).toBeUndefined()
    expect(casStore(new MapRegister()).raiseToken).toBeDefined()
  })
})

describe('a record without its owner, removed by another program', () => {
  async function setUpVacated() {
    const { clock, register, store, open } = setUp()
    const grant = await held(store, 'a')
    register.write('job', { ...register.recordOf('job'), displaced: { grantId: 'a', ttl: TTL } })
    return { clock, register, store, open, grant }
  }

  it('is locked for challengers until they have seen it unchanged for the ttl', async () => {
    const { clock, open } = await setUpVacated()
    const other = open()
    const claim = () => other.acquire({ name: 'job', owner: 'o-b', grantId: 'b', ttl: TTL }, call)
    expect(await claim()).toMatchObject({ granted: false, holder: { state: 'breaking', remaining: TTL + MARGIN } })
    clock.block(TTL + MARGIN - 1)
    expect((await claim()).granted).toBe(false)
    clock.block(1)
    expect((await claim()).granted).toBe(true)
  })

  it('is free at that time too where other programs write it meanwhile', async () => {
    const { clock, register, open } = await setUpVacated()
    const other = open()
    const claim = () => other.acquire({ name: 'job', owner: 'o-b', grantId: 'b', ttl: TTL }, call)
    expect((await claim()).granted).toBe(false)
    clock.block(TTL + MARGIN - 1)
    register.write('job', { ...register.recordOf('job'), owner: 'go', grantId: 'go', ttl: 1 })
    expect((await claim()).granted).toBe(false)
    clock.block(1 + MARGIN)
    expect((await claim()).granted).toBe(true)
  })

  it.each([
    ['the owner was restored and removed again', undefined],
    ['the owner was restored, has renewed its grant and was removed again', 1],
  ])('is locked for the whole ttl once more where %s', async (_, renewals) => {
    const { clock, register, open } = await setUpVacated()
    const other = open()
    const claim = () => other.acquire({ name: 'job', owner: 'o-b', grantId: 'b', ttl: TTL }, call)
    expect((await claim()).granted).toBe(false)
    clock.block(TTL)
    const { displaced, ...restored } = register.recordOf('job')
    register.write('job', restored)
    // A challenger that misses the record in between sees the count of renewals.
    if (renewals === undefined) await other.read('job', call)
    const again = { grantId: 'a', ttl: TTL, ...(renewals === undefined ? {} : { renewals }) }
    register.write('job', { ...restored, displaced: again })
    clock.block(MARGIN)
    expect(await claim()).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN } })
  })

  it('is refused to its holder, also for a repeated claim or a hand-off', async () => {
    const { register, store, grant } = await setUpVacated()
    // The record says that the lock is still that of this grant.
    const holder = { grantId: 'a', state: 'breaking' }
    expect(await store.renew(grant, call)).toMatchObject({ renewed: false, reason: 'taken', holder })
    const again = await store.acquire({ name: 'job', owner: 'o-a', grantId: 'a', ttl: TTL }, call)
    expect(again.granted).toBe(false)
    expect((await store.change(grant, { grantId: 'b', owner: 'o-b' }, call)).granted).toBe(false)
    expect(register.recordOf('job').displaced).toBeDefined()
  })

  it('is freed at once by a release of its holder', async () => {
    const { register, store, open, grant } = await setUpVacated()
    expect(await store.release(grant, call)).toEqual({ released: true })
    expect(register.recordOf('job')).not.toHaveProperty('displaced')
    expect((await held(open(), 'b')).owner).toBe('o-b')
  })
})

describe('a watch that yields entries', () => {
  it('wakes waiters for a name that may be free, and yields the holder and its remaining time for a held name', async () => {
    const { clock, register, store } = setUp()
    const grant = await held(store, 'a')
    const leased = await register.read('job')
    await store.release(grant, call)
    const free = await register.read('job')
    const watch = async function* () {
      yield* [leased, leased, free, undefined, leased]
    }
    const yielded: unknown[] = []
    const watching = casStore(Object.assign(register, { watch }), { clock }).watch?.('job', call) ?? []
    for await (const record of watching) yielded.push(record)
    const holder = expect.objectContaining({ grantId: 'a', state: 'leased', remaining: TTL + MARGIN })
    expect(yielded).toEqual([holder, holder, undefined, undefined, holder])
  })

  it('counts as an observation: a takeover follows a ttl after the last reported change', async () => {
    const { clock, register, store, open } = setUp()
    const grant = await held(store, 'a')
    await store.renew(grant, call)
    const renewed = await register.read('job')
    const watch = async function* () {
      yield renewed
    }
    Object.assign(register, { watch })
    const other = open()
    for await (const _ of other.watch?.('job', call) ?? []) clock.block(1)
    clock.block(TTL + MARGIN - 2)
    expect(await other.acquire({ name: 'job', owner: 'o-b', grantId: 'b', ttl: TTL }, call)).toMatchObject({
      granted: false,
      holder: { remaining: 1 },
    })
    clock.block(1)
    expect((await held(other, 'b')).owner).toBe('o-b')
  })
})

describe('fencing tokens of a register that forgets', () => {
  it('are the larger of the creation time, rounded up, and the last token plus one', async () => {
    const register = new MapRegister(true)
    const store = casStore(register, { clock: new VirtualClock() })
    register.time = 0
    const first = await held(store, 'a')
    await store.release(first, call)
    register.delete('job')
    register.time = 41.5
    expect([first.fencingToken, (await held(store, 'b')).fencingToken]).toEqual([1n, 42n])
  })

  it('are valid for an entry with the creation time 0', async () => {
    const register = new MapRegister(true)
    const store = casStore(register, { clock: new VirtualClock() })
    register.time = 1
    expect((await held(store, 'a')).fencingToken).toBe(1n)
  })
})
