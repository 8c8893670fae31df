import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { QuorumOfFakes } from './support/quorum-of-fakes.js'

const forever = new AbortableCall()

describe('a request that was taken back', () => {
  it('does not free a later attempt of the same claim, if a server carries out an early request late', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const claim = { owner: 'claimer', grantId: 'claim' }
    // One server, and two that hang: nothing comes of it, and all are to be freed again.
    for (const place of [1, 2]) quorum.server(place).state = 'frozen'
    await expect(quorum.during(store.acquire(quorum.request(claim), quorum.limit(500)))).rejects.toThrow('time is up')
    await quorum.clock.advance(3_000)
    // The claim is repeated. Now the servers thaw, and carry out the requests of all connections in any order.
    const asked = store.acquire(quorum.request(claim), forever)
    await quorum.clock.settle()
    for (const place of [1, 2]) quorum.server(place).thaw((sent) => [...sent.slice(2), ...sent.slice(0, 2)])
    const outcome = await quorum.during(asked)
    await quorum.clock.advance(100)
    if (!outcome.granted) expect.fail('refused')
    const rival = quorum.open().store
    const rivals = await quorum.during(rival.acquire(quorum.request({ owner: 'rival' }), forever))
    expect(rivals).toMatchObject({ granted: false, holder: { owner: 'claimer' } })
    expect(await quorum.during(store.renew(outcome.grant, forever))).toEqual({ renewed: true })
  })

  it('is not granted to a concurrent request under the same id', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    for (const place of [1, 2]) quorum.server(place).state = 'frozen'
    const given = store.acquire(quorum.request({ grantId: 'claim' }), quorum.limit(100))
    const asked = store.acquire(quorum.request({ grantId: 'claim' }), forever)
    asked.catch(() => {})
    await expect(quorum.during(given)).rejects.toThrow('time is up')
    for (const place of [1, 2]) quorum.server(place).thaw()
    await expect(quorum.during(asked)).rejects.toThrow('taken back meanwhile')
    await quorum.clock.settle()
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
  })

  it('is not taken back if the same claim is already held', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const grant = await quorum.granted(store, { grantId: 'claim' })
    for (const place of [1, 2]) quorum.server(place).state = 'frozen'
    const again = store.acquire(quorum.request({ grantId: 'claim' }), quorum.limit(500))
    await expect(quorum.during(again)).rejects.toThrow('time is up')
    for (const place of [1, 2]) quorum.server(place).thaw()
    await quorum.clock.advance(100)
    expect(await quorum.during(store.renew(grant, forever))).toEqual({ renewed: true })
    expect(await quorum.owners()).toEqual(['owner', 'owner', 'owner'])
  })
})
