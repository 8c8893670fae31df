import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { expect, it } from 'vitest'
import { closeBooks } from './readme/ledger.js'

describeRedis('the example of the guide', () => {
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
