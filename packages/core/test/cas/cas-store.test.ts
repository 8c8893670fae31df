import {
  createLease,
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseStore,
  LeaseUnavailableError,
} from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type CasStore, casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { Observations } from '../../src/cas/observations.js'
import { silentLogger } from '../support/held-lease.js'
import { MapRegister } from './map-register.js'

const TTL = 10_000
/** The margin that a challenger waits after the ttl. */
const MARGIN = 25
const call = new AbortableCall()

interface Fixture {
  readonly clock: VirtualClock
  readonly register: MapRegister
  /** A separate store, as in another process. */
  readonly open: (clock?: VirtualClock) => CasStore
}

function setUp(forgets = false): Fixture {
  const clock = new VirtualClock()
  const register = new MapRegister(forgets)
  return { clock, register, open: (own = clock) => casStore(register, { clock: own, probe: false }) }
}

function claim(store: LeaseStore, owner: string, grantId = owner, ttl = TTL): Promise<AcquireOutcome> {
  return store.acquire({ name: 'job', owner, grantId, ttl }, call)
}

async function grantOf(outcome: Promise<AcquireOutcome>): Promise<Extract<AcquireOutcome, { granted: true }>['grant']> {
  const answer = await outcome
  if (!answer.granted) throw new Error('not granted')
  return answer.grant
}

describe('takeover over a compare-and-set register', () => {
  it('waits for the recorded ttl, not for its own', async () => {
    const { clock, open } = setUp()
    await claim(open(), 'a', 'a', 5 * TTL)
    const b = open()
    expect((await claim(b, 'b')).granted).toBe(false)
    clock.block(TTL + MARGIN)
    expect((await claim(b, 'b')).granted).toBe(false)
    clock.block(4 * TTL)
    expect((await claim(b, 'b')).granted).toBe(true)
  })

  it('waits from its own first observation of the record, also for an old record', async () => {
    const { clock, open } = setUp()
    await claim(open(), 'a')
    clock.block(100 * TTL)
    const b = open()
    const refused = await claim(b, 'b')
    expect(refused).toMatchObject({ granted: false, holder: { owner: 'a', state: 'leased', remaining: TTL + MARGIN } })
    clock.block(TTL + MARGIN - 1)
    expect((await claim(b, 'b')).granted).toBe(false)
    clock.block(1)
    expect((await claim(b, 'b')).granted).toBe(true)
  })

  it('restarts its wait with every heartbeat', async () => {
    const { clock, open } = setUp()
    const a = open()
    const grant = await grantOf(claim(a, 'a'))
    const b = open()
    await claim(b, 'b')
    for (let beat = 0; beat < 5; beat += 1) {
      clock.block(TTL - 1)
      expect(await a.renew(grant, call)).toEqual({ renewed: true })
      expect((await claim(b, 'b')).granted).toBe(false)
    }
    clock.block(TTL + MARGIN)
    expect((await claim(b, 'b')).granted).toBe(true)
  })

  it('compares no clocks: the clocks of two processes may differ by hours', async () => {
    const { register, open } = setUp()
    const [ofA, ofB] = [new VirtualClock(), new VirtualClock()]
    ofB.block(3_600_000)
    await claim(open(ofA), 'a')
    register.time += 1e9
    const b = open(ofB)
    expect((await claim(b, 'b')).granted).toBe(false)
    ofB.block(TTL)
    expect((await claim(b, 'b')).granted).toBe(false)
  })

  it('does not happen after a suspend of the challenger if the holder renewed meanwhile', async () => {
    const { register, open } = setUp()
    const [ofA, ofB] = [new VirtualClock(), new VirtualClock()]
    const [a, b] = [open(ofA), open(ofB)]
    const grant = await grantOf(claim(a, 'a'))
    await claim(b, 'b')
    await a.renew(grant, call)
    ofB.suspend(10 * TTL)
    expect((await claim(b, 'b')).granted).toBe(false)
    expect(register.recordOf('job').owner).toBe('a')
  })

  it('is granted to one of two simultaneous challengers, and the other one gets the holder', async () => {
    const { clock, open } = setUp()
    await claim(open(), 'a')
    const [b, c] = [open(), open()]
    await Promise.all([claim(b, 'b'), claim(c, 'c')])
    clock.block(TTL + MARGIN)
    const outcomes = await Promise.all([claim(b, 'b'), claim(c, 'c')])
    expect(outcomes.filter(({ granted }) => granted).length).toBe(1)
    expect(outcomes.find(({ granted }) => !granted)).toMatchObject({ holder: { owner: expect.stringMatching(/[bc]/) } })
  })

  it.each([1e308, Number.POSITIVE_INFINITY, Number.NaN, -5, 0])(
    'waits for maxTtl if the recorded ttl is %d',
    async (ttl) => {
      const { clock, register, open } = setUp()
      await claim(open(), 'a')
      register.write('job', { ...register.recordOf('job'), ttl })
      const b = open()
      expect((await claim(b, 'b')).granted).toBe(false)
      clock.block(3_600_000 + MARGIN - 1)
      expect((await claim(b, 'b')).granted).toBe(false)
      clock.block(1)
      expect((await claim(b, 'b')).granted).toBe(true)
    },
  )
})

describe('heartbeats over a compare-and-set register', () => {
  it('are one write and no read', async () => {
    const { register, open } = setUp()
    const store = open()
    const grant = await grantOf(claim(store, 'a'))
    register.calls.length = 0
    for (let beat = 0; beat < 10; beat += 1) await store.renew(grant, call)
    expect(register.calls).toEqual(Array(10).fill('replace'))
  })

  it('survive a lost answer: the record has our grant id, and its version is adopted', async () => {
    const { register, open } = setUp()
    const store = open()
    const grant = await grantOf(claim(store, 'a'))
    register.faults.push('lose-answer')
    await expect(store.renew(grant, call)).rejects.toThrow('connection reset')
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    register.calls.length = 0
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    expect(register.calls).toEqual(['replace'])
  })

  it('work in another process that only has the grant', async () => {
    const { open } = setUp()
    const grant = await grantOf(claim(open(), 'a'))
    expect(await open().renew(grant, call)).toEqual({ renewed: true })
  })

  it('report why the grant has ended: taken, deleted, broken, expired', async () => {
    const { clock, register, open } = setUp()
    const [a, b] = [open(), open()]
    const grant = await grantOf(claim(a, 'a'))
    await claim(b, 'b')
    clock.block(TTL + MARGIN)
    const next = await grantOf(claim(b, 'b'))
    expect(await a.renew(grant, call)).toMatchObject({ renewed: false, reason: 'taken', holder: { owner: 'b' } })
    await a.break('job', { period: 0 }, call)
    expect(await b.renew(next, call)).toEqual({ renewed: false, reason: 'broken' })
    const last = await grantOf(claim(a, 'a', 'a2'))
    await b.release(last, call)
    expect(await a.renew(last, call)).toEqual({ renewed: false, reason: 'expired' })
    register.delete('job')
    expect(await a.renew(last, call)).toEqual({ renewed: false, reason: 'deleted' })
  })

  it('reject as unknown after repeated concurrent writes', async () => {
    const { register, open } = setUp()
    const store = open()
    const grant = await grantOf(claim(store, 'a'))
    const { replace } = register
    register.replace = async (...args) => {
      register.write('job', register.recordOf('job'))
      return await replace.apply(register, args)
    }
    await expect(store.renew(grant, call)).rejects.toBeInstanceOf(LeaseUnavailableError)
  })
})

describe('acquire over a compare-and-set register', () => {
  it('writes a record with our grant id again with the same token, so that observers restart their wait', async () => {
    const { clock, register, open } = setUp()
    const [a, b] = [open(), open()]
    await claim(b, 'warm-up', 'w')
    await b.release(await grantOf(claim(b, 'warm-up', 'w')), call)
    register.faults.push(...([undefined, 'lose-answer'] as never[]))
    await expect(claim(a, 'a')).rejects.toThrow('connection reset')
    const token = register.recordOf('job').fencingToken
    expect((await claim(b, 'b')).granted).toBe(false)
    clock.block(TTL - 1)
    expect((await grantOf(claim(a, 'a'))).fencingToken).toBe(token)
    clock.block(MARGIN + 1)
    expect((await claim(b, 'b')).granted).toBe(false)
  })

  it('grants a new name to one of many challengers', async () => {
    const { open } = setUp()
    const outcomes = await Promise.all(Array.from({ length: 5 }, (_, place) => claim(open(), `o${place}`)))
    expect(outcomes.filter(({ granted }) => granted).length).toBe(1)
  })

  it.each([0.5, 3_600_001, Number.NaN, Number.POSITIVE_INFINITY])('rejects a ttl of %d ms', async (ttl) => {
    const { open } = setUp()
    await expect(claim(open(), 'a', 'a', ttl)).rejects.toBeInstanceOf(LeaseConfigurationError)
  })

  it.each([{ data: 'someone else’s' }, null])(
    'rejects an entry that is not a lease record, %j, and writes nothing',
    async (foreign) => {
      const { register, open } = setUp()
      register.write('job', foreign as never)
      const store = open()
      await expect(claim(store, 'a')).rejects.toBeInstanceOf(LeaseConfigurationError)
      expect(register.calls).toEqual(['read'])
    },
  )
})

describe('release over a compare-and-set register', () => {
  it('keeps the record and its token, and empties the owner', async () => {
    const { register, open } = setUp()
    const store = open()
    const grant = await grantOf(claim(store, 'a'))
    expect(await store.release(grant, call)).toEqual({ released: true })
    expect(register.recordOf('job')).toMatchObject({ owner: '', fencingToken: grant.fencingToken })
    expect((await claim(open(), 'b')).granted).toBe(true)
  })

  it('of a stale holder does not free the lease', async () => {
    const { clock, register, open } = setUp()
    const [a, b] = [open(), open()]
    const grant = await grantOf(claim(a, 'a'))
    await claim(b, 'b')
    clock.block(TTL + MARGIN)
    await claim(b, 'b')
    expect(await a.release(grant, call)).toMatchObject({ released: false, holder: { owner: 'b' } })
    expect(register.recordOf('job').owner).toBe('b')
  })

  it('with a lost answer succeeds when repeated', async () => {
    const { register, open } = setUp()
    const store = open()
    const grant = await grantOf(claim(store, 'a'))
    register.faults.push('lose-answer')
    await expect(store.release(grant, call)).rejects.toThrow('connection reset')
    expect(await store.release(grant, call)).toEqual({ released: false })
  })

  it('of a deleted or released lease changes nothing', async () => {
    const { register, open } = setUp()
    const store = open()
    const grant = await grantOf(claim(store, 'a'))
    await store.release(grant, call)
    expect(await store.release(grant, call)).toEqual({ released: false })
    register.delete('job')
    expect(await store.release(grant, call)).toEqual({ released: false })
  })
})

describe('fencing tokens over a compare-and-set register', () => {
  it('grow over release, expiry and break', async () => {
    const { clock, open } = setUp()
    const tokens: bigint[] = []
    const store = open()
    for (const [place, end] of ['release', 'expire', 'break', 'release'].entries()) {
      const grant = await grantOf(claim(store, 'a', `g${place}`))
      tokens.push(grant.fencingToken)
      if (end === 'release') await store.release(grant, call)
      if (end === 'expire') clock.block(TTL + MARGIN)
      if (end === 'break') await store.break('job', { period: 0 }, call)
    }
    expect(tokens).toEqual([1n, 2n, 3n, 4n])
  })

  it('start from the creation time in a store that forgets: above all earlier tokens', async () => {
    const { register, open } = setUp(true)
    const store = open()
    const first = await grantOf(claim(store, 'a'))
    expect(first.fencingToken).toBe(BigInt(register.time))
    await store.release(first, call)
    const second = await grantOf(claim(store, 'a', 'a2'))
    register.delete('job')
    register.time += 5
    const third = await grantOf(claim(store, 'a', 'a3'))
    expect(second.fencingToken).toBe(first.fencingToken + 1n)
    expect(third.fencingToken).toBeGreaterThan(second.fencingToken)
  })

  it('need the creation time of entries from a register that forgets', async () => {
    const { register, open } = setUp(true)
    register.create = async () => ({ version: 1 })
    await expect(claim(open(), 'a')).rejects.toBeInstanceOf(LeaseConfigurationError)
  })
})

describe('change and break over a compare-and-set register', () => {
  it('change passes the lease on with a larger token and ends the old grant', async () => {
    const { open } = setUp()
    const store = open()
    const grant = await grantOf(claim(store, 'a'))
    const next = await store.change(grant, { grantId: 'b', owner: 'b' }, call)
    expect(next).toMatchObject({ granted: true, grant: { owner: 'b', fencingToken: grant.fencingToken + 1n } })
    expect(await store.renew(grant, call)).toMatchObject({ renewed: false, reason: 'taken' })
    expect(await store.change(grant, { grantId: 'c', owner: 'c' }, call)).toMatchObject({ granted: false })
  })

  it('break locks the name for the period, as observed by each challenger, and can only be shortened', async () => {
    const { clock, open } = setUp()
    const [a, b] = [open(), open()]
    await claim(a, 'a')
    expect(await b.break('job', { period: 4_000, reason: 'stuck' }, call)).toEqual({ remaining: 4_000 + MARGIN })
    expect((await b.break('job', { period: 60_000 }, call)).remaining).toBe(4_000 + MARGIN)
    expect(await b.break('job', { period: 2_000 }, call)).toEqual({ remaining: 2_000 + MARGIN })
    expect(await b.read('job', call)).toMatchObject({ state: 'breaking', metadata: { breakReason: 'stuck' } })
    expect((await claim(b, 'b')).granted).toBe(false)
    clock.block(2_000 + MARGIN)
    expect(await b.read('job', call)).toMatchObject({ state: 'broken' })
    expect((await claim(b, 'b')).granted).toBe(true)
  })

  it('break of an expired lease leaves it free, also for a challenger that sees it for the first time', async () => {
    const { clock, open } = setUp()
    const store = open()
    await claim(store, 'a')
    clock.block(TTL + MARGIN)
    expect(await store.break('job', {}, call)).toEqual({ remaining: 0 })
    expect((await claim(open(), 'b')).granted).toBe(true)
  })

  it('break of a free or unknown name is a conflict', async () => {
    const { open } = setUp()
    const store = open()
    await expect(store.break('job', {}, call)).rejects.toBeInstanceOf(LeaseConflictError)
    await store.release(await grantOf(claim(store, 'a')), call)
    await expect(store.break('job', {}, call)).rejects.toBeInstanceOf(LeaseConflictError)
    await expect(store.break('job', { period: -1 }, call)).rejects.toBeInstanceOf(LeaseConfigurationError)
  })
})

describe('casStore', () => {
  it('rejects invalid limits, and operations after close', async () => {
    expect(() => casStore(new MapRegister(), { maxTtl: Number.POSITIVE_INFINITY })).toThrow(LeaseConfigurationError)
    expect(() => casStore(new MapRegister(), { minTtl: 5, maxTtl: 4 })).toThrow(LeaseConfigurationError)
    const { open } = setUp()
    const store = open()
    await store.close()
    await expect(claim(store, 'a')).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(store.read('job', call)).rejects.toBeInstanceOf(LeaseUnavailableError)
  })

  it('forgets old observations', () => {
    const observations = new Observations<number>(1_000)
    for (let name = 0; name < 100_000; name += 1) observations.see(`n${name}`, 1, name * 10)
    expect(observations.size).toBeLessThan(1_000)
  })

  it('works with the engine: another process succeeds a hanging holder without overlap', async () => {
    const { clock, register, open } = setUp()
    const times = {
      heartbeatTimeout: TTL,
      heartbeatInterval: 1_000,
      operationTimeout: 500,
      clock,
      logger: silentLogger,
    }
    const a = createLease(open(), 'job', times)
    const b = createLease(open(), 'job', times)
    expect(await a.acquire()).toBe(true)
    const waiting = b.acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.advance(3 * TTL)
    expect(a.checkLease()).toBe(true)
    const { replace } = register
    register.replace = () => new Promise(() => {})
    while (a.checkLease()) await clock.advance(50)
    expect(b.checkLease()).toBe(false)
    register.replace = replace
    while (!b.checkLease()) {
      await clock.advance(50)
      expect(a.checkLease()).toBe(false)
    }
    expect(await waiting).toBe(true)
    expect(b.fencingToken).toBeGreaterThan(1n)
  })
})
