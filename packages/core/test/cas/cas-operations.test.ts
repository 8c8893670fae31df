import {
  type Grant,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseNameError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { AbortableCall, type CasRecord, type CasRegister, type CasStoreOptions, casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { MapRegister } from './map-register.js'

const TTL = 10_000
const HOUR = 3_600_000
/** The margin that a challenger waits after the ttl. */
const MARGIN = 25
const call = new AbortableCall()
const details = { leaseName: 'job', store: 'map' }

function setUp({ forgets, ...options }: CasStoreOptions & { readonly forgets?: boolean } = {}) {
  const clock = new VirtualClock()
  const register = new MapRegister(forgets)
  const open = () => casStore(register, { clock, probe: false, ...options })
  const store = open()
  const claim = (grantId: string, more: { ttl?: number; metadata?: Record<string, string> } = {}, by = store) =>
    by.acquire({ name: 'job', owner: `o-${grantId}`, grantId, ttl: TTL, ...more }, call)
  const held = async (grantId: string): Promise<Grant> => {
    const outcome = await claim(grantId)
    if (!outcome.granted) throw new Error('not granted')
    return outcome.grant
  }
  return { clock, register, open, store, claim, held }
}

/** The calls of an operation to the register. */
async function callsOf(register: MapRegister, operate: () => Promise<unknown>): Promise<string[]> {
  register.calls.length = 0
  await operate()
  return [...register.calls]
}

describe('a compare-and-set store', () => {
  it('has a kind and limits, without a queue and without infinite leases', () => {
    const unnamed = { ...register(), kind: undefined } as unknown as CasRegister<number>
    expect(casStore(register()).kind).toBe('map')
    expect(casStore(unnamed).kind).toBe('cas')
    expect(casStore(register()).limits).toEqual({
      minTtl: 1_000,
      maxTtl: HOUR,
      infinite: false,
      ordered: false,
      observed: true,
    })
    const limits = { minTtl: 5, maxTtl: 5 }
    expect(casStore(register(), limits).limits).toMatchObject(limits)
  })

  it.each([
    [0, 5],
    [Number.NaN, 5],
    [5, 4],
    [5, Number.NaN],
    [5, Number.POSITIVE_INFINITY],
  ])('rejects invalid limits: %d to %d', (minTtl, maxTtl) => {
    const build = () => casStore(register(), { minTtl, maxTtl })
    expect(build).toThrow(LeaseConfigurationError)
    expect(build).toThrow(`minTtl (${minTtl}) and maxTtl (${maxTtl}) must be finite, 0 < minTtl <= maxTtl`)
  })

  it('reports the changes that its register reports', async () => {
    expect(casStore(register()).watch).toBeUndefined()
    const watch = vi.fn(async function* () {
      yield undefined
      yield undefined
    })
    const told: unknown[] = []
    const watching = casStore(Object.assign(register(), { watch })).watch?.('job', call) ?? []
    for await (const word of watching) told.push(word)
    expect(told).toEqual([undefined, undefined])
    expect(watch).toHaveBeenCalledWith('job', call)
  })

  it('ends its watches when it is closed, and closes its register', async () => {
    const { register, store, held } = setUp()
    const grant = await held('a')
    const close = vi.fn(async () => {})
    Object.assign(register, { close })
    await store.close?.()
    expect(close).toHaveBeenCalledOnce()
    await expect(store.renew(grant, call)).rejects.toThrow('the map store is closed')
    await expect(store.read('job', call)).rejects.toMatchObject({ code: 'unavailable', store: 'map' })
  })

  it('rejects an aborted call', async () => {
    const { register, store, claim, held } = setUp()
    const grant = await held('a')
    const aborted = new AbortableCall()
    aborted.abort('enough')
    const calls = await callsOf(register, async () => {
      await expect(store.renew(grant, aborted)).rejects.toBe('enough')
      await expect(store.read('job', aborted)).rejects.toBe('enough')
    })
    expect(calls).toEqual([])
    expect((await claim('b')).granted).toBe(false)
  })
})

describe('acquire over a compare-and-set register writes', () => {
  it('the owner, the ttl, the metadata and the token of the grant', async () => {
    const { register, claim } = setUp()
    const grant = { name: 'job', owner: 'o-a', grantId: 'a', fencingToken: 1n, ttl: TTL }
    expect(await claim('a', { metadata: { version: '7' } })).toEqual({ granted: true, grant })
    const { name: _, ...kept } = grant
    const renewals = { count: 0, revision: 1 }
    expect(register.recordOf('job')).toEqual({ ...kept, revision: 1, metadata: { version: '7' }, renewals })
    expect(register.calls).toEqual(['read', 'create', 'replace'])
  })

  it('the metadata of the last holder, if the claim has none', async () => {
    const { register, store, claim } = setUp()
    const outcome = await claim('a', { metadata: { version: '7' } })
    if (outcome.granted) await store.release(outcome.grant, call)
    await claim('b')
    expect(register.recordOf('job')).toMatchObject({ metadata: { version: '7' }, previous: { version: '7' } })
  })

  it('an entry without an owner, for a new name when the process then stops', async () => {
    const { register, claim, open } = setUp()
    register.faults.push(...([undefined, undefined, 'fail'] as never[]))
    await expect(claim('a')).rejects.toThrow('connection refused')
    expect(register.recordOf('job')).toMatchObject({ owner: '', grantId: '', fencingToken: 0n })
    expect(await open().read('job', call)).toMatchObject({ state: 'available' })
    expect((await claim('b', {}, open())).granted).toBe(true)
  })

  it.each([1_000, HOUR])('for the shortest and the longest ttl: %d ms', async (ttl) => {
    const { claim } = setUp()
    expect((await claim('a', { ttl })).granted).toBe(true)
  })

  it.each([999, HOUR + 1])('nothing for a ttl of %d ms', async (ttl) => {
    const { register, claim } = setUp()
    await expect(claim('a', { ttl })).rejects.toMatchObject({ ...details, owner: 'o-a', code: 'configuration' })
    await expect(claim('a', { ttl })).rejects.toThrow(`the ttl must be 1000 to 3600000 ms, not ${ttl}`)
    expect(register.calls).toEqual([])
  })

  it('nothing for an invalid name', async () => {
    const { register, store } = setUp()
    const claimed = store.acquire({ name: '', owner: 'a', grantId: 'a', ttl: TTL }, call)
    await expect(claimed).rejects.toBeInstanceOf(LeaseNameError)
    expect(register.calls).toEqual([])
  })

  it('a larger token if its own grant id was broken or released meanwhile', async () => {
    const { store, claim, held } = setUp()
    await held('a')
    await store.break('job', { period: 2_000 }, call)
    expect(await claim('a')).toMatchObject({ granted: false, holder: { state: 'breaking' } })
    await store.break('job', { period: 0 }, call)
    const again = await held('a')
    expect(again.fencingToken).toBe(2n)
    await store.release(again, call)
    expect((await held('a')).fencingToken).toBe(3n)
  })

  it('again after a concurrent write, five times, and then rejects', async () => {
    const { register, claim, held, store } = setUp()
    const grant = await held('a')
    await store.release(grant, call)
    const { replace } = register
    register.replace = async (...args) => {
      register.write('job', register.recordOf('job'))
      return await replace.apply(register, args)
    }
    const calls = await callsOf(register, async () => {
      await expect(claim('b')).rejects.toMatchObject({ ...details, code: 'unavailable' })
    })
    expect(calls).toEqual(Array(5).fill(['read', 'replace']).flat())
    await expect(claim('b')).rejects.toThrow("'job' was written by others 5 times in a row: try again")
  })
})

describe('heartbeats over a compare-and-set register', () => {
  it('write the ttl of the grant, the next revision and the count of renewals, and nothing else', async () => {
    const { register, store, held } = setUp()
    const grant = await held('a')
    const before = register.recordOf('job')
    await store.renew({ ...grant, ttl: 2 * TTL }, call)
    const revision = before.revision + 1
    const renewals = { count: 1, revision }
    expect(register.recordOf('job')).toEqual({ ...before, ttl: 2 * TTL, revision, renewals })
  })

  it('are not counted any more after a write of a version that does not count', async () => {
    const { register, store, held } = setUp()
    const grant = await held('a')
    const record = register.recordOf('job')
    // Such a version copies the fields that it does not know.
    register.write('job', { ...record, revision: record.revision + 1 })
    expect(await store.read('job', call)).not.toHaveProperty('renewals')
    await store.renew(grant, call)
    expect(await store.read('job', call)).not.toHaveProperty('renewals')
  })

  it('read the record if another grant was made here since', async () => {
    const { clock, register, store, held } = setUp()
    const first = await held('a')
    clock.block(TTL + MARGIN)
    await held('b')
    expect(await callsOf(register, () => store.renew(first, call))).toEqual(['read'])
  })

  it('read the record again after a foreign write', async () => {
    const { register, store, held } = setUp()
    const grant = await held('a')
    register.write('job', register.recordOf('job'))
    expect(await callsOf(register, () => store.renew(grant, call))).toEqual(['replace', 'read', 'replace'])
  })

  it('forget the last write when they are refused', async () => {
    const { register, store, held } = setUp()
    const grant = await held('a')
    register.write('job', { ...register.recordOf('job'), breakPeriod: 5_000 })
    expect(await store.renew(grant, call)).toEqual({ renewed: false, reason: 'broken' })
    expect(await callsOf(register, () => store.renew(grant, call))).toEqual(['read'])
  })

  it('report the new holder, if there is one', async () => {
    const { clock, store, claim, held } = setUp()
    const first = await held('a')
    clock.block(TTL + MARGIN)
    await claim('b', { metadata: { version: '8' } })
    const holder = { name: 'job', owner: 'o-b', grantId: 'b', fencingToken: 2n, ttl: TTL, state: 'leased' }
    const taken = { renewed: false, reason: 'taken' }
    expect(await store.renew(first, call)).toEqual({ ...taken, holder: { ...holder, metadata: { version: '8' } } })
    await store.release(holder as never, call)
    expect(await store.renew(first, call)).toEqual(taken)
  })
})

describe('release over a compare-and-set register', () => {
  it('is one write and no read in the process of the grant, and forgets the last write', async () => {
    const { register, store, held } = setUp()
    const grant = await held('a')
    expect(await callsOf(register, () => store.release(grant, call))).toEqual(['replace'])
    expect(await callsOf(register, () => store.release(grant, call))).toEqual(['read'])
  })

  it('of a grant of another process reads the record first', async () => {
    const { register, open, held } = setUp()
    const grant = await held('a')
    const other = open()
    expect(await callsOf(register, () => other.release(grant, call))).toEqual(['read', 'replace'])
    expect(register.recordOf('job').owner).toBe('')
  })

  it('is repeated after a concurrent write', async () => {
    const { register, store, held } = setUp()
    const grant = await held('a')
    register.write('job', register.recordOf('job'))
    expect(await callsOf(register, () => store.release(grant, call))).toEqual(['replace', 'read', 'replace'])
    expect(register.recordOf('job').owner).toBe('')
  })

  it('of an expired lease of another owner changes nothing and reports no holder', async () => {
    const { clock, register, store, held } = setUp()
    const first = await held('a')
    clock.block(TTL + MARGIN)
    await held('b')
    clock.block(TTL + MARGIN)
    expect(await store.release(first, call)).toEqual({ released: false })
    expect(register.recordOf('job').owner).toBe('o-b')
  })
})

describe('read over a compare-and-set register', () => {
  it('resolves with the record and the remaining time, as observed by this process', async () => {
    const { clock, store, held } = setUp()
    expect(await store.read('job', call)).toBeUndefined()
    const grant = await held('a')
    clock.block(400)
    const record = { ...grant, metadata: {}, state: 'leased', remaining: TTL + MARGIN - 400, renewals: 0 }
    expect(await store.read('job', call)).toEqual(record)
  })

  it('restarts the observation of an entry that was gone, although its version is the same', async () => {
    const { clock, register, store, held, open } = setUp()
    await held('a')
    const observer = open()
    await observer.read('job', call)
    clock.block(TTL)
    const { read } = register
    register.read = async () => undefined
    expect(await observer.read('job', call)).toBeUndefined()
    register.read = read
    expect(await observer.read('job', call)).toMatchObject({ state: 'leased', remaining: TTL + MARGIN })
    expect(await store.read('job', call)).toMatchObject({ remaining: MARGIN })
  })

  it.each([-1, Number.NaN, 1n, null, ''])('rejects an entry with the creation time %o', async (given) => {
    const createdAt = given as number
    const { register, store, held } = setUp({ forgets: true })
    await held('a')
    const record = register.recordOf('job')
    register.read = async () => ({ record, version: 1, createdAt })
    const message = 'the map register forgets entries, but gives no createdAt in milliseconds'
    await expect(store.read('job', call)).rejects.toThrow(message)
  })
})

describe('change over a compare-and-set register', () => {
  const to = { grantId: 'b', owner: 'you' }

  it('keeps the ttl and the metadata, and returns the same token when repeated', async () => {
    const { register, store, claim } = setUp()
    const outcome = await claim('a', { metadata: { version: '7' } })
    const grant = outcome.granted ? outcome.grant : expect.unreachable()
    const previous = { version: '7' }
    const changed = { granted: true, grant: { ...grant, ...to, fencingToken: 2n }, previous }
    expect(await store.change(grant, to, call)).toEqual(changed)
    expect(await store.change(grant, to, call)).toEqual(changed)
    expect(register.recordOf('job')).toMatchObject({ ...to, ttl: TTL, metadata: { version: '7' } })
  })

  it('is not repeated by a ttl that no holder can have, for the answer may be wrong', async () => {
    const { register, store, held } = setUp()
    const grant = await held('a')
    await store.change(grant, to, call)
    register.write('job', { ...register.recordOf('job'), ttl: -1 })
    await expect(store.change(grant, to, call)).rejects.toBeInstanceOf(LeaseUnavailableError)
    expect(register.recordOf('job')).toMatchObject({ ...to, ttl: -1 })
  })

  it('is not granted for a deleted, broken, expired or released lease, and reports the holder', async () => {
    const { clock, register, store, held } = setUp()
    const first = await held('a')
    await store.break('job', { period: 2_000 }, call)
    expect(await store.change(first, to, call)).toMatchObject({ granted: false, holder: { state: 'breaking' } })
    clock.block(TTL + MARGIN)
    const second = await held('a')
    expect(await store.change({ ...second, grantId: 'x' }, to, call)).toMatchObject({
      granted: false,
      holder: { grantId: 'a' },
    })
    clock.block(TTL + MARGIN)
    expect(await store.change(second, to, call)).toEqual({ granted: false })
    await store.release(second, call)
    expect(await store.change(second, to, call)).toEqual({ granted: false })
    register.delete('job')
    expect(await store.change(second, to, call)).toEqual({ granted: false })
  })
})

describe('break over a compare-and-set register', () => {
  it('without a period locks the name for the remaining time, and keeps the metadata', async () => {
    const { clock, register, store, claim } = setUp()
    await claim('a', { metadata: { version: '7' } })
    clock.block(1_000)
    const left = TTL + MARGIN - 1_000
    expect(await store.break('job', {}, call)).toEqual({ remaining: left })
    const broken: Partial<CasRecord> = { breakPeriod: left - MARGIN, metadata: { version: '7' } }
    expect(register.recordOf('job')).toMatchObject(broken)
    expect(register.recordOf('job').metadata).toEqual({ version: '7' })
  })

  it('with the same period changes nothing, and with a shorter one adds its reason to the metadata', async () => {
    const { register, store, claim } = setUp()
    await claim('a', { metadata: { version: '7' } })
    await store.break('job', { period: 4_000 }, call)
    const repeated = () => store.break('job', { period: 4_000 + MARGIN }, call)
    expect(await callsOf(register, repeated)).toEqual(['read'])
    expect(await callsOf(register, () => store.break('job', {}, call))).toEqual(['read'])
    await store.break('job', { period: 4_000, reason: 'stuck' }, call)
    expect(register.recordOf('job').metadata).toEqual({ version: '7', breakReason: 'stuck' })
  })

  it('is repeated after a concurrent write', async () => {
    const { register, store, held } = setUp()
    await held('a')
    const { replace } = register
    register.replace = async (...args) => {
      register.replace = replace
      register.write('job', register.recordOf('job'))
      return await replace.apply(register, args)
    }
    expect(await callsOf(register, () => store.break('job', { period: 0 }, call))).toEqual([
      'read',
      'replace',
      'read',
      'replace',
    ])
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
    'writes nothing by a ttl of %d, but a given period',
    async (ttl) => {
      const { register, store, claim } = setUp()
      await claim('a')
      register.write('job', { ...register.recordOf('job'), ttl })
      const written = register.recordOf('job')
      await expect(store.break('job', {}, call)).rejects.toThrow(`a ttl that no holder can have (${ttl} ms): try again`)
      await expect(store.break('job', {}, call)).rejects.toBeInstanceOf(LeaseUnavailableError)
      expect(register.recordOf('job')).toEqual(written)
      expect(await store.break('job', { period: 0 }, call)).toEqual({ remaining: 0 })
    },
  )

  it('rejects when the name is free, or the period is invalid', async () => {
    const { store } = setUp()
    await expect(store.break('job', {}, call)).rejects.toThrow("'job' has no holder: there is nothing to break")
    await expect(store.break('job', {}, call)).rejects.toMatchObject(details)
    await expect(store.break('job', {}, call)).rejects.toBeInstanceOf(LeaseConflictError)
    for (const period of [-1, Number.NaN]) {
      const broken = store.break('job', { period }, call)
      await expect(broken).rejects.toThrow(`period must be 0 or more milliseconds, or Infinity, not ${period}`)
    }
  })
})

function register(): MapRegister {
  return new MapRegister()
}
