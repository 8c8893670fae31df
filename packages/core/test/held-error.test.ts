import { createLease, LeaseHeldError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall, type CasRegister, casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { MapRegister } from './cas/map-register.js'
import { setUp, silentLogger } from './support/held-lease.js'
import { setUpInMemory } from './support/runs.js'

/** The record of another owner, as stores return it. */
const record = {
  ...{ name: 'job', owner: 'other', grantId: 'g', fencingToken: 7n, ttl: 1 },
  state: 'leased',
  metadata: {},
}

describe('the LeaseHeldError of a run', () => {
  it('names the owner that holds the lease', async () => {
    const { lease, other } = setUpInMemory()
    await other.acquire()
    const error = await lease.run(async () => {}).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseHeldError)
    expect(error).toMatchObject({ leaseName: 'job', owner: 'me', store: 'memory', holder: 'other' })
    expect(String(error)).toContain("lease 'job' is held by another owner, 'other': raise wait, or try later")
  })

  it('names the owner that held the lease at the end of the wait', async () => {
    const { clock, lease, other } = setUpInMemory()
    await other.acquire()
    const run = lease.run(async () => {}, { wait: 1_000 }).catch((reason: unknown) => reason)
    await clock.advance(1_100)
    expect(await run).toMatchObject({ code: 'held', holder: 'other' })
  })

  it('asks the store for the holder when the refusal did not name it', async () => {
    const { clock, store, lease } = setUp()
    const run = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    store.last('read').answer(record)
    expect(await run).toMatchObject({ code: 'held', holder: 'other' })
  })

  it('does not name a holder from an earlier attempt', async () => {
    const { clock, store, lease } = setUp()
    const first = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false, holder: record })
    expect(await first).toMatchObject({ holder: 'other' })
    const second = lease.run(async () => {}).catch((reason: unknown) => reason)
    await clock.settle()
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    store.last('read').answer({ ...record, owner: 'third' })
    expect(await second).toMatchObject({ holder: 'third' })
  })

  it.each([
    ['the store does not know it', { ...record, owner: '' }],
    ['the lease is free again', undefined],
  ])('has no holder when %s', async (_, answer) => {
    const { clock, store, lease } = setUp()
    const run = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    store.last('read').answer(answer)
    expect(await run).toMatchObject({ code: 'held', holder: undefined })
  })

  it('has no holder when the store does not answer', async () => {
    const { clock, store, lease } = setUp()
    const run = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false })
    await clock.settle()
    store.last('read').fail(new LeaseUnavailableError('no connection'))
    expect(await run).toMatchObject({ code: 'held', holder: undefined })
  })
})

describe('the LeaseHeldError of a run over a store without a clock', () => {
  const heartbeatTimeout = 30_000

  function setUpObserved(times: Pick<CasRegister<number>, 'clockError' | 'doubt'> = {}) {
    const clock = new VirtualClock()
    const register = Object.assign(new MapRegister(), times)
    const open = (owner: string) =>
      createLease(casStore(register, { clock }), 'job', { owner, clock, heartbeatTimeout, logger: silentLogger })
    const store = casStore(register, { clock })
    return { clock, store, lease: open('me'), other: open('other') }
  }

  it.each([undefined, 0, 1_000, 30_999])('says how long to wait, with a wait of %s', async (wait) => {
    const { clock, lease, other } = setUpObserved()
    await other.acquire()
    const run = lease.run(async () => {}, wait === undefined ? {} : { wait }).catch((reason: unknown) => reason)
    await clock.advance(31_000)
    expect(await run).toMatchObject({ code: 'held', holder: 'other', leastWait: 31_000 })
    expect(String(await run)).toContain(
      "lease 'job' is held by another owner, 'other'. The map store cannot tell a dead holder from a live one in one look: " +
        'wait for longer than the ttl of the holder, such as wait: 31_000',
    )
  })

  it('says that a later try can tell it, where the store keeps marks', async () => {
    const { lease, other } = setUpObserved({ clockError: 0, doubt: async () => {} })
    await other.acquire()
    await expect(lease.run(async () => {})).rejects.toThrow('such as wait: 31_000, or try again after that time')
  })

  it('says a wait that is long enough for a holder that is dead', async () => {
    const { clock, store, lease } = setUpObserved()
    const dead = { name: 'job', owner: 'dead', grantId: 'g', ttl: heartbeatTimeout }
    await store.acquire(dead, new AbortableCall())
    const run = lease.run(async () => 'done', { wait: 31_000 })
    await clock.advance(31_000)
    expect(await run).toBe('done')
  })

  it('says nothing of it after a wait that was long enough', async () => {
    const { clock, lease, other } = setUpObserved()
    await other.acquire()
    const run = lease.run(async () => {}, { wait: 31_000 }).catch((reason: unknown) => reason)
    await clock.advance(31_000)
    expect(await run).toMatchObject({ code: 'held', leastWait: undefined })
    expect(String(await run)).toContain("'other': raise wait, or try later")
  })

  it('says nothing of it if the store can judge in one look', async () => {
    const { lease, other } = setUpObserved({ clockError: 0 })
    await other.acquire()
    const error = await lease.run(async () => {}).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'held', leastWait: undefined })
    expect(String(error)).not.toContain('one look')
  })
})
