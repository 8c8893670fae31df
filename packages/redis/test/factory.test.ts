import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { parseHocon } from '@leasehold/config'
import { LeaseConfigurationError, LeaseProvider, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { redisLease } from '@leasehold/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { redisProgram, whyNoTls } from '@leasehold/testing/redis-program'
import { RedisServer, type RedisServerOptions } from '@leasehold/testing/redis-server'
import { afterAll, describe, expect, it } from 'vitest'
import { RedisCluster } from './support/redis-cluster.js'
import { RedisSentinel } from './support/redis-sentinel.js'
import { storedLease } from './support/stored-lease.js'

const factories = { redis: redisLease }
const times = { 'heartbeat-timeout': '10s', 'heartbeat-interval': '2s', 'lease-operation-timeout': '2s' }

/** Resources of the tests, which run concurrently. */
const begun: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const end of begun.reverse()) await end()
})

function provide(block: object): LeaseProvider {
  const provider = new LeaseProvider({ job: { 'lease-class': 'redis', ...times, ...block } }, factories)
  begun.push(() => provider.close())
  return provider
}

async function acquired(block: object, name = `job ${randomUUID()}`): Promise<boolean> {
  return await (await provide(block).getLease(name, 'job')).acquire()
}

async function startServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await RedisServer.start(options)
  begun.push(() => server.stop())
  return server
}

describeRedis('a lease of a configuration', () => {
  describe.concurrent('is acquired', () => {
    it('on a server that may evict leases only with probe = off', async ({ expect }) => {
      const { url } = await startServer({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] })
      await expect(acquired({ url })).rejects.toMatchObject({ code: 'unfit', setting: 'maxmemory-policy' })
      expect(await acquired({ url, probe: 'off' })).toBe(true)
    })

    it('with the key of another library beside it', async ({ expect }) => {
      const server = await startServer()
      expect(await acquired({ url: server.url, compat: 'redis-semaphore' }, 'report')).toBe(true)
      expect(await server.command('EXISTS', 'mutex:report')).toBe(1)
      await expect(acquired({ url: server.url, compat: 'redlok' })).rejects.toBeInstanceOf(LeaseConfigurationError)
    })

    it('by a URL, all over one store', async ({ expect }) => {
      const server = await startServer()
      const provider = provide({ url: server.url, prefix: 'app:', 'record-life': '1d' })
      const leases = await Promise.all(['a', 'b', 'c'].map((name) => provider.getLease(name, 'job')))
      expect(await Promise.all(leases.map((lease) => lease.acquire()))).toEqual([true, true, true])
      expect(await storedLease(server, 'app:{a}')).toMatchObject({ state: 'leased' })
      const life = Number(await server.command('PTTL', 'app:{a}'))
      expect(life).toBeGreaterThan(86_400_000)
      expect(life).toBeLessThan(2 * 86_400_000)
      const clients = String(await server.command('CLIENT', 'LIST'))
        .trim()
        .split('\n')
      // One of the store, and the one that asks.
      expect(clients.length).toBe(2)
    })

    it('with a username and a password, in the URL or beside it, and in the database of the URL', async ({
      expect,
    }) => {
      const server = await startServer()
      await server.command('ACL', 'SETUSER', 'anna', 'on', '>p@ss:word', '~*', '&*', '+@all')
      const url = `redis://127.0.0.1:${server.port}/3`
      expect(await acquired({ url, username: 'anna', password: 'p@ss:word' })).toBe(true)
      expect(await acquired({ url: `redis://anna:p%40ss%3Aword@127.0.0.1:${server.port}/3`, password: 'no' })).toBe(
        true,
      )
      expect(String(await server.command('INFO', 'keyspace'))).toContain('db3:keys=2')
      expect(String(await server.command('ACL', 'LOG'))).toBe('')
    })

    it.skipIf(whyNoTls(redisProgram))('over TLS, trusting the certificates of a file', async ({ expect }) => {
      const server = await startServer({ tls: true })
      const caFile = join(server.dir, 'trusted.pem')
      writeFileSync(caFile, server.ca ?? '')
      expect(await acquired({ url: server.url, 'ca-file': caFile })).toBe(true)
      await expect(acquired({ url: server.url })).rejects.toBeInstanceOf(LeaseUnavailableError)
    })

    it('in a cluster', async ({ expect }) => {
      const cluster = await RedisCluster.start()
      begun.push(() => cluster.stop())
      const url = `redis://127.0.0.1:${cluster.nodes[1]?.port}`
      const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => acquired({ url, cluster: 'on' })))
      expect(outcomes).toEqual([true, true, true, true, true])
    })

    it('at the master that the Sentinels know', async ({ expect }) => {
      const sentinel = await RedisSentinel.start()
      begun.push(() => sentinel.stop())
      const sentinels = sentinel.sentinels.map(({ port }) => `127.0.0.1:${port}`)
      expect(await acquired({ sentinels, 'master-name': sentinel.name }, 'guarded')).toBe(true)
      expect(await storedLease(await sentinel.master(), 'leasehold:{guarded}')).toMatchObject({ state: 'leased' })
    })

    it('by HOCON, with the URL from the environment', async ({ expect }) => {
      const server = await startServer()
      const text = `
        job = \${leasehold.redis} { url = \${REDIS_URL}, heartbeat-timeout = infinite, heartbeat-interval = 10s }
        leasehold.redis { lease-class = redis, prefix = "hocon:" }
      `
      const provider = new LeaseProvider(parseHocon(text, { env: { REDIS_URL: server.url } }), factories)
      begun.push(() => provider.close())
      expect(await (await provider.getLease('job', 'job')).acquire()).toBe(true)
      expect(await storedLease(server, 'hocon:{job}')).toMatchObject({ ttl: 'never' })
    })
  })

  it('shows no password in errors', async () => {
    const server = await startServer({ password: 'correct horse' })
    const seen: unknown[] = []
    for (const block of [
      { url: `redis://:s3cr3t@127.0.0.1:${server.port}` },
      { url: `redis://127.0.0.1:${server.port}`, username: 'unknown', password: 's3cr3t' },
      { url: 'redis://:s3cr3t@127.0.0.1:1' },
      { url: 'http://:s3cr3t@127.0.0.1' },
      { url: 'redis://:s3cr3t@127.0.0.1/not-a-number' },
    ]) {
      seen.push(await acquired(block).catch((error: unknown) => error))
    }
    expect(seen[0]).toBeInstanceOf(LeaseUnauthorisedError)
    expect(seen[1]).toBeInstanceOf(LeaseUnauthorisedError)
    expect(seen[2]).toBeInstanceOf(LeaseUnavailableError)
    for (const error of seen.slice(3)) expect(error).toBeInstanceOf(LeaseConfigurationError)
    expect(inspect(seen, { depth: 20 })).not.toContain('s3cr3t')
  })
})

describe('an invalid configuration', () => {
  it.each([
    [{ url: 'localhost:6379' }, /url must be like redis:\/\//],
    [{ sentinels: ['a:26379'], 'master-name': 'm', cluster: 'on' }, /cluster and sentinels exclude each other/],
    [{ sentinels: ['a:26379'] }, /sentinels and master-name need each other/],
    [{ sentinels: ['a'], 'master-name': 'm' }, /list of host:port, not 'a'/],
    [{ url: 'redis://a', 'ca-file': '/nowhere.pem' }, /begin the URL with rediss:/],
    [{ url: 'rediss://a', 'ca-file': '/nowhere.pem' }, /ca-file cannot be read/],
    [{ url: 'redis://a', prefix: 'a{' }, /not a hash tag/],
    [{ url: 'redis://a', 'record-life': '5ms' }, /recordLife must be at least 1000 ms/],
    [{ cluster: 'perhaps' }, /cluster must be on or off/],
  ])('%j has an error that says how to fix it', async (block, message) => {
    const lease = provide(block).getLease('job', 'job')
    await expect(lease).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(lease).rejects.toThrow(message)
  })
})
