import { LeaseConflictError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { NAME, QuorumOfFakes, TTL } from './support/quorum-of-fakes.js'

const forever = new AbortableCall()

describe('a heartbeat', () => {
  it('is confirmed by a majority, or rejected by a majority for the first of their reasons', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    await quorum.server(0).store.delete(NAME)
    expect(await quorum.during(store.renew(grant, forever))).toEqual({ renewed: true })
    const other = new QuorumOfFakes(5)
    const held = other.open().store
    const lost = await other.granted(held)
    await other.server(0).store.delete(NAME)
    await other.server(1).store.delete(NAME)
    await other.server(2).store.break(NAME, { period: 500 })
    expect(await other.during(held.renew(lost, forever))).toMatchObject({ renewed: false, reason: 'broken' })
  })

  it('is unknown without a majority for either', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    await quorum.server(0).store.delete(NAME)
    quorum.server(1).state = 'dead'
    await expect(quorum.during(store.renew(grant, forever))).rejects.toThrow(LeaseUnavailableError)
    expect(await quorum.owners()).toEqual([undefined, 'owner', 'owner'])
  })

  it('is not confirmed by a server that has lost the lease', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    for (const place of [0, 1]) await quorum.server(place).store.delete(NAME)
    expect(await quorum.during(store.renew(grant, forever))).toEqual({ renewed: false, reason: 'deleted' })
    await quorum.clock.advance(5_000)
    expect(await quorum.owners()).toEqual([undefined, undefined, 'owner'])
  })

  it('is decided without waiting for another in the same call that is undecided', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grants = [await quorum.granted(store), await quorum.granted(store, { name: 'undecided' })]
    await quorum.server(0).store.delete('undecided')
    quorum.server(1).state = 'frozen'
    const [sound, undecided] = await quorum.during(store.renewMany(grants, forever), 500)
    expect(sound).toEqual({ renewed: true })
    expect(undecided).toBeInstanceOf(LeaseUnavailableError)
    quorum.server(2).state = 'dead'
    await expect(quorum.during(store.renewMany(grants, quorum.limit(500)))).rejects.toThrow('time is up')
  })
})

describe('a server that has lost a lease', () => {
  it('has the lease again after the next heartbeat, with its token and metadata', async () => {
    const quorum = new QuorumOfFakes([0n, 900n, 100n])
    const { store } = quorum.open()
    const grant = await quorum.granted(store, { metadata: { host: 'a' } })
    expect(grant.fencingToken).toBe(901n)
    // One after the other: a majority has never heard of the token but by this.
    for (const place of [0, 1, 2]) {
      quorum.server(place).restart(0n)
      expect(await quorum.during(store.renew(grant, forever))).toEqual({ renewed: true })
      await quorum.clock.advance(100)
    }
    expect(await quorum.during(store.read(NAME, forever))).toMatchObject({ ...grant, metadata: { host: 'a' } })
    await quorum.during(store.release(grant, forever))
    expect(await quorum.granted(store)).toMatchObject({ fencingToken: 902n })
  })

  it('does not restore the lease of a former holder', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open((_, operation) => ({ back: operation === 'read' ? 100 : 0 }))
    const grant = await quorum.granted(store)
    quorum.server(0).restart(5n)
    await quorum.during(store.renew(grant, forever))
    await quorum.during(store.release(grant, forever))
    await quorum.clock.advance(5_000)
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
  })

  it('does not restore the lease after another owner was granted', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open((_, operation) => ({ there: operation === 'read' ? 100 : 0 }))
    const grant = await quorum.granted(store)
    quorum.server(2).restart(0n)
    await quorum.during(store.renew(grant, forever))
    for (const place of [0, 1]) {
      await quorum.server(place).store.release(grant)
      await quorum.lock(place, 'successor')
    }
    await quorum.clock.advance(5_000)
    expect(await quorum.owners()).toEqual(['successor', 'successor', undefined])
  })

  it('does not restore a broken lease', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    await quorum.server(0).store.break(NAME, { period: 0 })
    await quorum.during(store.renew(grant, forever))
    await quorum.clock.advance(5_000)
    expect(await quorum.owners()).toEqual([undefined, 'owner', 'owner'])
  })
})

describe('a release', () => {
  it('is certain when the grant is gone from a majority', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    quorum.server(2).state = 'frozen'
    expect(await quorum.during(store.release(grant, forever))).toEqual({ released: true })
    expect(await quorum.during(store.release(grant, forever))).toEqual({ released: false })
    quorum.server(2).thaw()
    await quorum.clock.settle()
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
    const successor = await quorum.granted(store, { owner: 'successor' })
    expect(await quorum.during(store.release(grant, forever))).toMatchObject({
      released: false,
      holder: { owner: 'successor', fencingToken: successor.fencingToken },
    })
  })

  it('is unknown if a majority does not answer', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    for (const place of [1, 2]) quorum.server(place).state = 'dead'
    await expect(quorum.during(store.release(grant, forever))).rejects.toThrow(LeaseUnavailableError)
  })
})

describe('a record', () => {
  it('is that of a majority; without a majority, the owner is unknown', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const read = () => quorum.during(store.read(NAME, forever))
    expect(await read()).toBeUndefined()
    await quorum.lock(0, 'one')
    expect(await read()).toBeUndefined()
    await quorum.lock(1, 'other')
    expect(await read()).toMatchObject({ state: 'leased', owner: '', grantId: '' })
    quorum.server(1).state = 'dead'
    expect(await read()).toMatchObject({ state: 'leased', owner: '', grantId: '' })
    quorum.server(2).state = 'dead'
    await expect(read()).rejects.toThrow('1 of 3 servers answered')
  })

  it('remains as long as a majority has it', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    await quorum.clock.advance(4_000)
    // A heartbeat that reached one server only.
    await quorum.server(0).store.renew(grant)
    expect(await quorum.during(store.read(NAME, forever))).toMatchObject({ owner: 'owner', remaining: TTL - 4_000 })
    expect(await quorum.during(store.acquire(quorum.request(), forever))).toMatchObject({
      holder: { owner: 'owner', remaining: TTL - 4_000 },
    })
  })

  it('has no owner before a majority has agreed on the token', async () => {
    const quorum = new QuorumOfFakes([0n, 5n, 9n])
    const { store } = quorum.open()
    for (const place of [0, 1, 2]) await quorum.lock(place, 'one', 'one')
    expect(await quorum.during(store.read(NAME, forever))).toMatchObject({
      state: 'leased',
      owner: '',
      fencingToken: 10n,
    })
    await quorum.granted(store, { owner: 'one', grantId: 'one' })
    expect(await quorum.during(store.read(NAME, forever))).toMatchObject({ owner: 'one', fencingToken: 10n })
  })

  it('is not that of a request that is being taken back', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open((_, operation) => ({
      ...(operation === 'agree' ? { lost: 'request' } : {}),
      ...(operation === 'release' ? { there: 300 } : {}),
    }))
    quorum.server(1).setAhead(NAME, 5n)
    quorum.server(2).setAhead(NAME, 5n)
    quorum.server(2).state = 'dead'
    const aborted = new AbortableCall()
    aborted.abort(new Error('given up'))
    await expect(store.acquire(quorum.request({ grantId: 'mine' }), aborted)).rejects.toThrow('given up')
    const asked = store.acquire(quorum.request({ grantId: 'mine' }), quorum.limit(500))
    await expect(quorum.during(asked)).rejects.toThrow('time is up')
    quorum.server(0).setAhead(NAME, 5n)
    expect(await quorum.owners()).toEqual(['owner', 'owner', undefined])
    // A process that took this for its grant would lose it a moment later.
    expect(await quorum.during(store.read(NAME, forever))).toMatchObject({ state: 'leased', grantId: '' })
  })
})

describe('a change', () => {
  it('is unknown without a majority, and can be repeated', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    for (const place of [1, 2]) quorum.server(place).state = 'dead'
    const to = { grantId: 'next', owner: 'next' }
    await expect(quorum.during(store.change(grant, to, forever))).rejects.toThrow(LeaseUnavailableError)
    for (const place of [1, 2]) quorum.server(place).state = 'up'
    const outcome = await quorum.during(store.change(grant, to, forever))
    expect(outcome).toMatchObject({ granted: true, grant: { ...to, name: NAME, ttl: TTL } })
    expect(await quorum.owners()).toEqual(['next', 'next', 'next'])
  })
})

describe('a break', () => {
  it('needs a majority', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    await expect(quorum.during(store.break(NAME, {}, forever))).rejects.toThrow(LeaseConflictError)
    const grant = await quorum.granted(store)
    quorum.server(0).state = 'dead'
    expect(await quorum.during(store.break(NAME, { period: 400 }, forever))).toEqual({ remaining: 400 })
    expect(await quorum.during(store.renew(grant, forever))).toMatchObject({ renewed: false, reason: 'broken' })
    quorum.server(1).state = 'dead'
    await expect(quorum.during(store.break(NAME, {}, forever))).rejects.toThrow(LeaseUnavailableError)
  })
})

describe('the end', () => {
  it('waits for a second at most for cleanups', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    for (const place of [1, 2]) quorum.server(place).state = 'frozen'
    await expect(quorum.during(store.acquire(quorum.request(), quorum.limit(100)))).rejects.toThrow('time is up')
    await quorum.during(store.close(), 1_000)
    await expect(store.read(NAME, forever)).rejects.toThrow('the redis-quorum store is closed')
    expect(quorum.clock.pending).toBe(0)
  })

  it('of an operation leaves no timer and no listener behind', async () => {
    const quorum = new QuorumOfFakes([0n, 9n, 4n])
    const { store } = quorum.open(() => ({ back: 1 }))
    const call = new AbortableCall()
    const grant = await quorum.granted(store)
    await quorum.during(store.renew(grant, call))
    await quorum.during(store.renewMany([grant], call))
    await quorum.during(store.read(NAME, call))
    await quorum.during(store.release(grant, call))
    expect(call.listeners).toBe(0)
    await quorum.clock.advance(1)
    expect(quorum.clock.pending).toBe(0)
  })

  it('of a server that does not answer is not waited for', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const call = new AbortableCall()
    quorum.server(2).state = 'frozen'
    const grant = await quorum.granted(store)
    await quorum.during(store.renew(grant, call))
    expect(call.listeners).toBe(0)
    await quorum.clock.advance(3_000)
    expect(quorum.clock.pending).toBe(0)
  })
})
