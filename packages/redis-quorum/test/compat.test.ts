import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import Redlock from 'redlock'
import { afterAll, beforeAll, expect, it } from 'vitest'

describeRedis('a store of a quorum with compat', () => {
  let servers: RedisServer[]
  let clients: [Redis, Redis, Redis]
  let store: RedisQuorumLeaseStore
  let redlock: Redlock

  beforeAll(async () => {
    servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()])
    clients = servers.map(({ port }) => new Redis(port)) as [Redis, Redis, Redis]
    store = new RedisQuorumLeaseStore(clients, { compat: 'redlock' })
    redlock = new Redlock(clients, { retryCount: 0 })
  })

  afterAll(async () => {
    await store.close()
    for (const client of clients) client.disconnect()
    await Promise.all(servers.map((server) => server.stop()))
  })

  const valuesOf = (key: string) => Promise.all(clients.map((client) => client.get(key)))

  it('and redlock on the same servers exclude each other', async () => {
    const lock = await redlock.acquire(['job'], 10_000)
    expect(await store.acquire(claimOf('g'), never)).toMatchObject({ granted: false, holder: { owner: 'redlock' } })
    expect(new Set(await valuesOf('job'))).toEqual(new Set([lock.value]))
    await lock.release()
    const grant = await granted(store, 'h')
    await expect(redlock.acquire(['job'], 1_000)).rejects.toThrow()
    for (const client of clients) await client.pexpire('job', 2_000)
    expect(await store.renew(grant, never)).toEqual({ renewed: true })
    // The answer of a majority is enough for a renewal.
    const renewed = (await Promise.all(clients.map((client) => client.pttl('job')))).filter((left) => left > 2_000)
    expect(renewed.length).toBeGreaterThanOrEqual(2)
    expect(await store.release(grant, never)).toEqual({ released: true })
    expect(await valuesOf('job')).toEqual([null, null, null])
  })

  it('is granted where redlock has a minority, and leaves its key there alone', async () => {
    await clients[0].set('minor', 'another', 'PX', 30_000)
    const grant = await granted(store, 'g', { name: 'minor' })
    expect((await valuesOf('minor'))[0]).toBe('another')
    expect(await store.renew(grant, never)).toEqual({ renewed: true })
    await store.release(grant, never)
    expect(await valuesOf('minor')).toEqual(['another', null, null])
  })

  it('takes a claim without a majority back, and its keys with it', async () => {
    for (const client of clients.slice(1)) await client.set('major', 'another', 'PX', 30_000)
    expect(await store.acquire(claimOf('g', { name: 'major' }), never)).toMatchObject({ granted: false })
    await expect.poll(() => valuesOf('major'), { timeout: 10_000 }).toEqual([null, 'another', 'another'])
  })

  it('has lost a lease whose key a majority has given to another', async () => {
    const grant = await granted(store, 'g', { name: 'lost' })
    for (const client of clients.slice(1)) await client.set('lost', 'another', 'PX', 30_000)
    expect(await store.renew(grant, never)).toMatchObject({ renewed: false, reason: 'taken' })
    expect((await valuesOf('lost')).slice(1)).toEqual(['another', 'another'])
  })
})
