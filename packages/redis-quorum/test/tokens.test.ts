import { LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { NAME, QuorumOfFakes } from './support/quorum-of-fakes.js'

const forever = new AbortableCall()

describe('fencing tokens', () => {
  it('grow with every grant, whichever majority gives it', async () => {
    for (let seed = 0; seed < 40; seed += 1) {
      const quorum = new QuorumOfFakes([0n, 1_000_000n, 500n, 37n, 90_000n])
      const { store } = quorum.open()
      let last = -1n
      for (let round = 0; round < 8; round += 1) {
        // Two of five are away, others each time.
        const away = [(seed + round * 3) % 5, (seed * 7 + round) % 5]
        for (const [place, server] of quorum.servers.entries()) server.state = away.includes(place) ? 'dead' : 'up'
        const grant = await quorum.granted(store)
        expect(grant.fencingToken).toBeGreaterThan(last)
        last = grant.fencingToken
        await quorum.during(store.release(grant, forever))
        await quorum.clock.advance(11_000)
      }
    }
  })

  it('are returned only when a majority has them', async () => {
    const quorum = new QuorumOfFakes([0n, 0n, 1_000n])
    const { store } = quorum.open((place, operation) => (operation === 'agree' && place < 2 ? { lost: 'request' } : {}))
    await expect(quorum.during(store.acquire(quorum.request(), quorum.limit(500)))).resolves.toMatchObject({
      // Two servers have the same token, which is a majority: the third one continues from there.
      granted: true,
      grant: { fencingToken: 1n },
    })
    const other = new QuorumOfFakes([0n, 10n, 1_000n])
    const lost = other.open((_, operation) => (operation === 'agree' ? { lost: 'request' } : {})).store
    await expect(other.during(lost.acquire(other.request(), other.limit(500)))).rejects.toThrow('time is up')
    await other.clock.settle()
    expect(await other.owners()).toEqual([undefined, undefined, undefined])
  })

  it('include that of a server that grants the lease late', async () => {
    const quorum = new QuorumOfFakes([0n, 50n, 7n])
    const { store } = quorum.open((place, operation) => {
      if (operation === 'agree' && place === 0) return { lost: 'request' }
      return place === 2 ? { there: 300 } : {}
    })
    const outcome = await quorum.during(store.acquire(quorum.request(), quorum.limit(2_000)))
    expect(outcome).toMatchObject({ granted: true, grant: { fencingToken: 51n } })
  })

  it('grow when a lease is passed on', async () => {
    const quorum = new QuorumOfFakes([0n, 400n, 7n])
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    quorum.server(1).state = 'dead'
    const to = { grantId: 'next', owner: 'next' }
    const outcome = await quorum.during(store.change(grant, to, forever))
    expect(outcome).toMatchObject({ granted: true, grant: { fencingToken: 402n } })
    expect(await quorum.during(store.change(grant, to, forever))).toEqual(outcome)
    expect(await quorum.during(store.read(NAME, forever))).toMatchObject({ owner: 'next', fencingToken: 402n })
  })
})

describe('a raised token', () => {
  const FAR = 1_000_000_000n

  it('is below all later ones, whichever majorities take part', async () => {
    for (let seed = 0; seed < 40; seed += 1) {
      const quorum = new QuorumOfFakes([0n, 1_000_000n, 500n, 37n, 90_000n])
      const { store } = quorum.open()
      let last = -1n
      for (let round = 0; round < 8; round += 1) {
        const leave = (...away: readonly number[]) => {
          for (const [place, server] of quorum.servers.entries()) server.state = away.includes(place) ? 'dead' : 'up'
        }
        leave((seed + round * 3) % 5, (seed * 3 + round) % 5)
        const grant = await quorum.granted(store)
        expect(grant.fencingToken).toBeGreaterThan(last)
        // The others of the grant may be back.
        if (round % 3 === 0) leave()
        const raised = { ...grant, fencingToken: grant.fencingToken + FAR }
        expect(await quorum.during(store.raiseToken(grant, raised.fencingToken, forever))).toEqual({ renewed: true })
        last = raised.fencingToken
        if (round % 2 === 0) await quorum.during(store.release(raised, forever))
        await quorum.clock.advance(11_000)
      }
    }
  })

  it('is certain only when a majority has it, and is raised again under the same grant', async () => {
    const quorum = new QuorumOfFakes([0n, 50n, 7n])
    const lost = quorum.open((place, operation) => (operation === 'raiseToken' && place > 0 ? { lost: 'request' } : {}))
    const grant = await quorum.granted(lost.store)
    await expect(quorum.during(lost.store.raiseToken(grant, FAR, quorum.limit(500)))).rejects.toThrow('time is up')
    // The majority that has not heard of it still has the holder.
    expect(await quorum.during(lost.store.renew(grant, forever))).toEqual({ renewed: true })
    const { store } = quorum.open()
    expect(await quorum.during(store.raiseToken(grant, FAR, forever))).toEqual({ renewed: true })
    expect(await quorum.during(store.read(NAME, forever))).toMatchObject({ ...grant, fencingToken: FAR })
    await quorum.during(store.release({ ...grant, fencingToken: FAR }, forever))
    quorum.server(0).state = 'dead'
    expect((await quorum.granted(store)).fencingToken).toBe(FAR + 1n)
  })

  it('is refused where a majority has no such grant', async () => {
    const quorum = new QuorumOfFakes([0n, 50n, 7n])
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    await quorum.during(store.release(grant, forever))
    expect(await quorum.during(store.raiseToken(grant, FAR, forever))).toMatchObject({ renewed: false })
    expect((await quorum.granted(store)).fencingToken).toBeLessThan(FAR)
  })

  it('is that of a server that had lost the grant, and has learned the floor', async () => {
    const quorum = new QuorumOfFakes([0n, 50n, 7n])
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    quorum.server(1).restart(0n)
    expect(await quorum.during(store.raiseToken(grant, FAR, forever))).toEqual({ renewed: true })
    await quorum.clock.advance(100)
    expect(await quorum.owners()).toEqual(['owner', 'owner', 'owner'])
    quorum.server(0).state = 'dead'
    expect(await quorum.during(store.read(NAME, forever))).toMatchObject({ ...grant, fencingToken: FAR })
    expect(quorum.server(1).floor).toBe(FAR)
  })

  it('is remembered by the store that raised it, also if all servers lose their data', async () => {
    const quorum = new QuorumOfFakes([0n, 50n, 7n])
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    await quorum.during(store.raiseToken(grant, FAR, forever))
    await quorum.during(store.release({ ...grant, fencingToken: FAR }, forever))
    for (const server of quorum.servers) server.restart(0n)
    expect((await quorum.granted(store)).fencingToken).toBeGreaterThan(FAR)
  })
})

describe('a server that has lost its data', () => {
  it('gives no token before it has learned the floor', async () => {
    const quorum = new QuorumOfFakes([20_000n, 500n, 0n])
    const one = quorum.open().store
    await quorum.during(one.release(await quorum.granted(one), forever))
    // The third server has never heard of the token of this grant.
    quorum.server(2).state = 'dead'
    const last = await quorum.granted(one)
    await quorum.during(one.release(last, forever))
    quorum.server(2).state = 'up'
    quorum.server(1).restart(0n)
    quorum.server(0).state = 'dead'
    const other = quorum.open().store
    const asked = quorum.during(other.acquire(quorum.request(), forever))
    await expect(asked).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(asked).rejects.toThrow(/has lost its data: .* when 2 others, or all servers, can be reached/)
    // With the first server it learns the token, and needs it no longer.
    quorum.server(0).state = 'up'
    const next = await quorum.granted(other)
    expect(next.fencingToken).toBeGreaterThan(last.fencingToken)
    await quorum.during(other.release(next, forever))
    quorum.server(0).state = 'dead'
    expect((await quorum.granted(other)).fencingToken).toBeGreaterThan(next.fencingToken)
  })

  it('learns the tokens of all names at once, with the first lease of any name', async () => {
    const quorum = new QuorumOfFakes([20_000n, 500n, 0n])
    const { store } = quorum.open()
    const last = await quorum.granted(store)
    await quorum.during(store.release(last, forever))
    quorum.server(1).restart(0n)
    await quorum.granted(store, { name: 'another' })
    quorum.server(0).state = 'dead'
    quorum.server(2).restart(0n)
    quorum.server(2).floor = 0n
    expect((await quorum.granted(quorum.open().store)).fencingToken).toBeGreaterThan(last.fencingToken)
  })

  it('needs a majority of others, not all of them', async () => {
    const quorum = new QuorumOfFakes([20_000n, 500n, 0n, 40n, 7n])
    const { store } = quorum.open()
    const last = await quorum.granted(store)
    await quorum.during(store.release(last, forever))
    quorum.server(0).state = 'dead'
    quorum.server(1).restart(0n)
    expect((await quorum.granted(store)).fencingToken).toBeGreaterThan(last.fencingToken)
    expect(quorum.server(1).floor).toBeGreaterThan(last.fencingToken)
    quorum.server(2).restart(0n)
    quorum.server(3).state = 'dead'
    await expect(quorum.during(store.acquire(quorum.request({ name: 'another' }), forever))).rejects.toThrow(
      'lost its data',
    )
  })

  it('learns the tokens also while the lease is held, from the next heartbeat on', async () => {
    const quorum = new QuorumOfFakes([20_000n, 500n, 0n])
    const { store } = quorum.open()
    const grant = await quorum.granted(store)
    quorum.server(1).restart(0n)
    expect(await quorum.during(store.renew(grant, forever))).toEqual({ renewed: true })
    await quorum.clock.advance(100)
    expect(quorum.server(1).floor).toBe(grant.fencingToken)
  })

  it('learns also if the others return their floors before it returns that it has none', async () => {
    const quorum = new QuorumOfFakes([20_000n, 500n, 0n])
    const last = await quorum.granted(quorum.open().store)
    quorum.server(1).restart(0n)
    const { store } = quorum.open((place, operation) => ({ there: operation === 'floor' && place === 1 ? 30 : 0 }))
    await quorum.granted(store, { name: 'another' })
    expect(quorum.server(1).floor).toBeGreaterThan(last.fencingToken)
  })

  it('grants nothing to a request that was taken back while it was learning', async () => {
    const quorum = new QuorumOfFakes()
    for (const [place, owner] of ['one', 'other'].entries()) await quorum.lock(place, owner)
    quorum.server(2).restart(0n)
    const { store } = quorum.open((_, operation) => ({ there: operation === 'floor' ? 400 : 0 }))
    expect(await quorum.during(store.acquire(quorum.request(), forever))).toEqual({ granted: false })
    await quorum.clock.advance(2_000)
    expect(await quorum.owners()).toEqual(['one', 'other', undefined])
  })

  it('does not restore a lease that was released while it was learning', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open((_, operation) => ({ there: operation === 'floor' ? 400 : 0 }))
    const grant = await quorum.granted(store)
    quorum.server(0).restart(0n)
    await quorum.during(store.renew(grant, forever))
    await quorum.clock.advance(100)
    await quorum.during(store.release(grant, forever))
    await quorum.clock.advance(2_000)
    expect(quorum.server(0).floor).toBe(grant.fencingToken)
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
  })

  it('is not needed for a lease that a majority of others has', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    await quorum.granted(store)
    quorum.server(0).restart(0n)
    const { store: other } = quorum.open((place, operation) =>
      place === 0 && operation === 'floor' ? { lost: 'answer' } : {},
    )
    expect((await quorum.granted(other, { name: 'another' })).fencingToken).toBeGreaterThan(0n)
  })
})

describe('servers without data', () => {
  it('are used as soon as a majority of them can be reached', async () => {
    const quorum = new QuorumOfFakes()
    for (const server of quorum.servers) server.restart(0n)
    quorum.server(2).state = 'dead'
    const { store } = quorum.open()
    const first = await quorum.granted(store)
    expect(quorum.servers.map(({ floor }) => floor)).toEqual([first.fencingToken, first.fencingToken, undefined])
    await quorum.during(store.release(first, forever))
    quorum.server(2).state = 'up'
    expect((await quorum.granted(store)).fencingToken).toBeGreaterThan(first.fencingToken)
  })

  it('continue from the largest token that the store was granted', async () => {
    const quorum = new QuorumOfFakes([20_000n, 500n, 0n])
    const { store } = quorum.open()
    const last = await quorum.granted(store)
    await quorum.during(store.release(last, forever))
    for (const server of quorum.servers) server.restart(0n)
    expect((await quorum.granted(store)).fencingToken).toBeGreaterThan(last.fencingToken)
  })

  it('continue from the largest floor, also if most servers have lost theirs', async () => {
    const quorum = new QuorumOfFakes([20_000n, 500n, 0n])
    const { store } = quorum.open()
    const last = await quorum.granted(store)
    await quorum.during(store.release(last, forever))
    for (const place of [1, 2]) quorum.server(place).restart(0n)
    const next = await quorum.granted(quorum.open().store, { name: 'another' })
    expect(next.fencingToken).toBeGreaterThan(last.fencingToken)
    for (const { floor = 0n } of quorum.servers) expect(floor).toBeGreaterThan(last.fencingToken)
  })

  it('continue from the largest clock', async () => {
    const quorum = new QuorumOfFakes()
    for (const server of quorum.servers) server.restart(0n)
    const { store, members } = quorum.open()
    const floorOf = (now: bigint) => () => Promise.resolve({ floor: undefined, now })
    for (const [place, now] of [7n, 9_000n, 8n].entries()) Object.assign(members[place] ?? {}, { floor: floorOf(now) })
    expect((await quorum.granted(store)).fencingToken).toBe(9_001n)
  })
})
