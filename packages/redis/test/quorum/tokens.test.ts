import { describe, expect, it } from 'vitest'
import { NAME, QuorumOfFakes } from './support/quorum-of-fakes.js'

const forever = new AbortController().signal

describe('fencing tokens', () => {
  it('grow with every grant, whichever majority gives it, though servers count by themselves', async () => {
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

  it('are told when a majority has them, not before: else nobody is granted', async () => {
    const quorum = new QuorumOfFakes([0n, 0n, 1_000n])
    const { store } = quorum.open((place, operation) => (operation === 'raise' && place < 2 ? { lost: 'request' } : {}))
    await expect(quorum.during(store.acquire(quorum.request(), quorum.limit(500)))).resolves.toMatchObject({
      // Two have the same: that is a majority, and whoever is granted by the third counts on from there.
      granted: true,
      grant: { fencingToken: 1n },
    })
    const other = new QuorumOfFakes([0n, 10n, 1_000n])
    const lost = other.open((_, operation) => (operation === 'raise' ? { lost: 'request' } : {})).store
    await expect(other.during(lost.acquire(other.request(), other.limit(500)))).rejects.toThrow('time is up')
    await other.clock.settle()
    expect(await other.owners()).toEqual([undefined, undefined, undefined])
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
