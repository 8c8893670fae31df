import { inspect } from 'node:util'
import { LeaseConfigurationError, LeaseProvider } from '@leasehold/core'
import { redisQuorumLease } from '@leasehold/redis-quorum'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { describe, expect, it } from 'vitest'

const times = { 'heartbeat-timeout': '10s', 'heartbeat-interval': '2s', 'lease-operation-timeout': '2s' }

function provide(block: object): LeaseProvider {
  const factories = { quorum: redisQuorumLease }
  return new LeaseProvider({ job: { 'lease-class': 'quorum', ...times, ...block } }, factories)
}

describeRedis('a lease of a configuration', () => {
  it('is held on a majority of the servers, all leases over one store', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start({ password: 's3cr3t' })))
    try {
      await servers[0]?.kill()
      const urls = servers.map(({ port }) => `redis://127.0.0.1:${port}`)
      await using provider = provide({ urls, password: 's3cr3t', prefix: 'app:' })
      const leases = await Promise.all(['a', 'b'].map((name) => provider.getLease(name, 'job')))
      expect(await Promise.all(leases.map((lease) => lease.acquire()))).toEqual([true, true])
      expect(await servers[1]?.command('EXISTS', 'app:{a}', 'app:{b}')).toBe(2)
      const clients = String(await servers[1]?.command('CLIENT', 'LIST'))
      // One of the store, and the one that asks.
      expect(clients.trim().split('\n')).toHaveLength(2)
    } finally {
      await Promise.all(servers.map((server) => server.stop()))
    }
  })
})

describe('an invalid configuration', () => {
  it.each([
    [{}, /urls must be given, such as urls = \["redis:\/\/a"/],
    [{ urls: ['redis://a'] }, /three servers or more, not 1/],
    [{ urls: ['redis://a', 'redis://b', '//:s3cr3t@'] }, /url must be like redis:\/\//],
    [{ urls: ['redis://a', 'redis://b', 'redis://c'], 'ca-file': '/nowhere.pem' }, /begin the URL with rediss:/],
  ])('%j has an error that says how to fix it, and shows no password', async (block, message) => {
    const error = await provide(block)
      .getLease('job', 'job')
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseConfigurationError)
    expect((error as Error).message).toMatch(message)
    expect(inspect(error)).not.toContain('s3cr3t')
  })
})
