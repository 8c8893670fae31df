import { LeaseConfigurationError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { RedisQuorumLeaseStore } from '../src/redis-quorum-lease-store.js'
import { FakeMember, FakeServer } from './support/fake-server.js'
import { NAME, QuorumOfFakes } from './support/quorum-of-fakes.js'

const forever = new AbortableCall()

describe('the servers of a quorum', () => {
  const membersOf = (size: number): FakeMember[] => {
    const { clock } = new QuorumOfFakes()
    return Array.from({ length: size }, () => new FakeMember(new FakeServer(clock)))
  }

  it('are three, five or another odd number', () => {
    for (const size of [3, 5, 7, 13]) expect(new RedisQuorumLeaseStore(membersOf(size)).kind).toBe('redis-quorum')
    for (const size of [0, 1, 2]) {
      expect(() => new RedisQuorumLeaseStore(membersOf(size))).toThrow(
        /three servers or more, not \d: .* RedisLeaseStore/,
      )
    }
    expect(() => new RedisQuorumLeaseStore(membersOf(4))).toThrow(
      'an odd number of servers: 4 survive no more losses than 3 do',
    )
    expect(() => new RedisQuorumLeaseStore(membersOf(2))).toThrow(LeaseConfigurationError)
  })

  it('have one vote each', () => {
    const [member] = membersOf(1) as [FakeMember]
    expect(() => new RedisQuorumLeaseStore([member, member, ...membersOf(1)])).toThrow('one is given twice')
  })
})

describe('a grant', () => {
  it('is of a majority: a request with fewer servers is refused, and frees them', async () => {
    const quorum = new QuorumOfFakes()
    await quorum.lock(0, 'one')
    await quorum.lock(1, 'other')
    const { store } = quorum.open()
    const outcome = await quorum.during(store.acquire(quorum.request({ owner: 'third' }), forever))
    expect(outcome.granted).toBe(false)
    await quorum.clock.settle()
    expect(await quorum.owners()).toEqual(['one', 'other', undefined])
  })

  it('is refused with a holder only if that holder has a majority', async () => {
    const quorum = new QuorumOfFakes(5)
    const { store } = quorum.open()
    const grant = await quorum.granted(store, { owner: 'holder' })
    const held = await quorum.during(store.acquire(quorum.request(), forever))
    expect(held).toMatchObject({ granted: false, holder: { owner: 'holder', fencingToken: grant.fencingToken } })
    const split = new QuorumOfFakes(5)
    for (const [place, owner] of ['a', 'a', 'b', 'b', 'c'].entries()) await split.lock(place, owner, owner)
    const refused = await split.during(split.open().store.acquire(split.request(), forever))
    expect(refused).toEqual({ granted: false })
  })

  it.each([
    ['dead', 'dead'],
    ['frozen', 'dead'],
    ['frozen', 'frozen'],
  ] as const)('is unknown, and taken back, where two of three are %s and %s', async (one, other) => {
    const quorum = new QuorumOfFakes()
    quorum.server(1).state = one
    quorum.server(2).state = other
    const { store } = quorum.open()
    await expect(quorum.during(store.acquire(quorum.request(), quorum.limit(500)))).rejects.toThrow(
      one === 'dead' ? /no majority: 1 of 3 servers answered: connection refused/ : 'time is up',
    )
    await quorum.clock.settle()
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
    for (const server of quorum.servers) server.thaw()
    await quorum.clock.settle()
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
  })

  it('is taken back also from a server whose answer was lost', async () => {
    const quorum = new QuorumOfFakes()
    const { store, members } = quorum.open()
    for (const member of members.slice(1)) {
      const acquire = member.acquire.bind(member)
      const reset = async (...asked: Parameters<typeof acquire>): Promise<never> => {
        await acquire(...asked)
        throw new LeaseUnavailableError('connection reset')
      }
      Object.assign(member, { acquire: reset })
    }
    await expect(quorum.during(store.acquire(quorum.request(), forever))).rejects.toThrow('connection reset')
    await quorum.clock.settle()
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
  })

  it('is not delayed by a frozen server, and neither are other operations', async () => {
    const quorum = new QuorumOfFakes([0n, 70n, 3n])
    const { store } = quorum.open(() => ({ there: 1, back: 1 }))
    quorum.server(2).state = 'frozen'
    const begin = quorum.clock.now()
    let grant = await quorum.granted(store)
    expect(quorum.clock.now() - begin).toBeLessThanOrEqual(60)
    for (const ask of [
      () => store.renew(grant, forever),
      () => store.renewMany([grant], forever),
      () => store.read(NAME, forever),
      () => store.release(grant, forever),
    ]) {
      const since = quorum.clock.now()
      await quorum.during<unknown>(ask())
      expect(quorum.clock.now() - since).toBeLessThanOrEqual(60)
    }
    await quorum.clock.advance(3_000)
    const later = quorum.clock.now()
    grant = await quorum.granted(store, { name: 'another' })
    // Two round trips at most: it is known by now that the server does not answer.
    expect(quorum.clock.now() - later).toBeLessThanOrEqual(4)
  })

  it('asks the servers once if they already agree on the token, and keeps the token', async () => {
    const quorum = new QuorumOfFakes([0n, 700n, 30n])
    const { store, members } = quorum.open()
    const grant = await quorum.granted(store, { grantId: 'again' })
    const asked = members.map((member) => member.asked.length)
    expect(await quorum.granted(store, { grantId: 'again' })).toEqual(grant)
    expect(members.map((member, place) => member.asked.slice(asked[place]))).toEqual([
      ['acquire'],
      ['acquire'],
      ['acquire'],
    ])
  })

  it('rejects with the error of the servers if a majority has the same definitive error', async () => {
    const quorum = new QuorumOfFakes()
    const { store, members } = quorum.open()
    const refuse = (): Promise<never> => Promise.reject(new LeaseUnauthorisedError('NOPERM'))
    for (const member of members.slice(1)) Object.assign(member, { acquire: refuse, renew: refuse, read: refuse })
    await expect(quorum.during(store.acquire(quorum.request(), forever))).rejects.toThrow(LeaseUnauthorisedError)
    await quorum.clock.settle()
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
    await expect(quorum.during(store.read(NAME, forever))).rejects.toThrow(LeaseUnauthorisedError)
  })

  it('needs a ttl', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    expect(store.limits.infinite).toBe(false)
    const request = quorum.request({ ttl: Number.POSITIVE_INFINITY })
    await expect(store.acquire(request, forever)).rejects.toThrow(LeaseConfigurationError)
  })
})

describe('rivals that have split the servers', () => {
  it('do not block each other: the rival with the smallest id continues, the others give way', async () => {
    const quorum = new QuorumOfFakes()
    const order = ['a', 'b', 'c']
    // Each reaches a server of its own first.
    const asked = order.map((owner, first) => {
      const { store } = quorum.open((place) => ({ there: place === first ? 1 : 2, back: 1 }))
      return store.acquire(quorum.request({ owner, grantId: owner }), forever)
    })
    const outcomes = await quorum.during(Promise.all(asked))
    expect(outcomes.map(({ granted }) => granted)).toEqual([true, false, false])
    expect(await quorum.owners()).toEqual(['a', 'a', 'a'])
  })

  it('do so also with a dead server', async () => {
    const quorum = new QuorumOfFakes()
    quorum.server(2).state = 'dead'
    const asked = ['a', 'b'].map((owner, first) => {
      const { store } = quorum.open((place) => ({ there: place === first ? 1 : 2, back: 1 }))
      return store.acquire(quorum.request({ owner, grantId: owner }), forever)
    })
    const outcomes = await quorum.during(Promise.all(asked))
    expect(outcomes.map(({ granted }) => granted)).toEqual([true, false])
  })
})
