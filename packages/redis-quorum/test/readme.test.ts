import { turnsOf } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { expect, it } from 'vitest'
import { closeBooks } from './readme/ledger.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

describeRedis('the examples of the guide', () => {
  it('gives two processes with the first program their turns', async (test) => {
    const servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()])
    test.onTestFinished(() => Promise.all(servers.map((server) => server.stop())).then(() => {}))
    expect(new Set(await turnsOf(firstLease, { REDIS_URLS: servers.map(({ url }) => url).join() })).size).toBe(2)
  })

  it('works under the lease, also with a dead server', async () => {
    const servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()])
    try {
      const tokens: bigint[] = []
      const urls = servers.map(({ url }) => url)
      const write = async (fencingToken: bigint): Promise<void> => void tokens.push(fencingToken)
      await closeBooks(urls, write)
      await servers[0]?.kill()
      await closeBooks(urls, write)
      expect(tokens).toHaveLength(2)
      expect(tokens[1]).toBeGreaterThan(tokens[0] ?? 0n)
    } finally {
      await Promise.all(servers.map((server) => server.stop()))
    }
  })
})
