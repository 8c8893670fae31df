import { LeaseStoreUnfitError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { QuorumOfFakes } from './support/quorum-of-fakes.js'

describe('a quorum is checked before its first grant', () => {
  it('by one question to each server', async () => {
    const quorum = new QuorumOfFakes()
    const asked: string[] = []
    const { store } = quorum.open((_, operation) => {
      asked.push(operation)
      return {}
    }, true)
    await quorum.granted(store)
    await quorum.granted(store, { name: 'other' })
    expect(asked.filter((operation) => operation === 'probe')).toHaveLength(3)
    expect(asked.slice(0, 3)).toEqual(['probe', 'probe', 'probe'])
  })

  it('and refused if one server may evict leases: it could be part of a second majority', async () => {
    const quorum = new QuorumOfFakes()
    quorum.server(1).info.set('maxmemory', '1000000').set('maxmemory_policy', 'allkeys-lru')
    const { store } = quorum.open(undefined, true)
    const refused = quorum.granted(store)
    await expect(refused).rejects.toBeInstanceOf(LeaseStoreUnfitError)
    await expect(refused).rejects.toMatchObject({ setting: 'maxmemory-policy', store: 'redis-quorum' })
    expect(await quorum.owners()).toEqual([undefined, undefined, undefined])
    quorum.server(1).info.set('maxmemory_policy', 'noeviction')
    await quorum.granted(store)
  })

  it('while a majority answers', async () => {
    const quorum = new QuorumOfFakes()
    quorum.server(2).state = 'dead'
    await quorum.granted(quorum.open(undefined, true).store)
    quorum.server(1).state = 'dead'
    await expect(quorum.granted(quorum.open(undefined, true).store)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('and names a server that does not answer, when it is asked', async () => {
    const quorum = new QuorumOfFakes()
    const { store } = quorum.open()
    const fit = await quorum.during(store.probe(quorum.call))
    expect(fit.filter(({ result }) => result === 'failed' || result === 'warning')).toEqual([])
    quorum.server(2).state = 'dead'
    const findings = await quorum.during(store.probe(quorum.call))
    expect(findings).toContainEqual(expect.objectContaining({ check: 'server 3', result: 'warning' }))
  })
})
