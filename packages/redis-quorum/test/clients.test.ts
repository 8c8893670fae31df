import { createLease } from '@leasehold/core'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { glide, iovalkey, upstash } from '../../redis/test/support/libraries.js'

describeRedis('a quorum', () => {
  let servers: RedisServer[] = []

  beforeAll(async () => {
    servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()])
  })

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
  })

  it('takes a client of another library for each server, and goes on without one of the servers', async () => {
    const libraries = [iovalkey, glide, upstash]
    const open = () => {
      return new RedisQuorumLeaseStore(servers.map((server, place) => (libraries[place] ?? glide).server(server)))
    }
    const [one, other] = [open(), open()]
    const [a, b] = [createLease(one, 'job'), createLease(other, 'job')]
    expect(await a.acquire()).toBe(true)
    expect(await b.acquire()).toBe(false)
    expect(await a.renew()).toBe(true)
    await servers[0]?.kill()
    expect(await a.renew()).toBe(true)
    const token = a.fencingToken ?? 0n
    expect(await a.release()).toBe(true)
    expect(await b.acquire({ wait: 20_000 })).toBe(true)
    expect(b.fencingToken).toBeGreaterThan(token)
    await b.release()
    await one.close()
    await other.close()
  }, 60_000)
})
