import { existsSync } from 'node:fs'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { redisProgram, whyNoTls } from '@leasehold/testing/redis-program'
import { RedisServer, type RedisServerOptions } from '@leasehold/testing/redis-server'
import { describe, it } from 'vitest'
import { RedisCluster } from './support/redis-cluster.js'
import { RedisSentinel } from './support/redis-sentinel.js'

/** Starts something, and stops it after its use. */
async function during<T extends { stop(): Promise<void> }>(
  start: Promise<T>,
  use: (started: T) => Promise<void>,
): Promise<void> {
  const started = await start
  try {
    await use(started)
  } finally {
    await started.stop()
  }
}

function withServer(options: RedisServerOptions, use: (server: RedisServer) => Promise<void>): Promise<void> {
  return during(RedisServer.start(options), use)
}

describeRedis('the servers of the tests', () => {
  describe.concurrent('a server', () => {
    it('answers, and leaves no folder when it has stopped', async ({ expect }) => {
      const server = await RedisServer.start()
      expect(await server.command('SET', 'a', 'ü\r\n')).toBe('OK')
      expect(await server.command('GET', 'a')).toBe('ü\r\n')
      expect(await server.command('GET', 'b')).toBeNull()
      expect(await server.command('INCR', 'count')).toBe(1)
      expect(await server.command('EVAL', 'return {1, {"two", false}, {}}', 0)).toEqual([1, ['two', null], []])
      await expect(server.command('INCR', 'a')).rejects.toThrow(/^ERR value is not an integer/)
      const { pid, dir } = server
      expect(server.url).toBe(`redis://127.0.0.1:${server.port}`)
      server.freeze()
      await server.stop()
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
      expect(existsSync(dir)).toBe(false)
    })

    it('answers no client while it is frozen, and all of them when it was thawed', async ({ expect }) => {
      await withServer({}, async (server) => {
        server.freeze()
        await expect(server.command('PING')).rejects.toThrow('no answer to PING within 5000 ms')
        server.thaw()
        expect(await server.command('PING')).toBe('PONG')
      })
    })

    it('is empty after a restart, unless it kept its data', async ({ expect }) => {
      await withServer({}, async (server) => {
        await server.command('SET', 'a', 1)
        const { pid, port } = server
        await server.restart()
        expect([server.pid === pid, server.port]).toEqual([false, port])
        expect(await server.command('GET', 'a')).toBeNull()
      })
      await withServer({ args: ['--appendonly', 'yes'] }, async (server) => {
        await server.command('SET', 'a', 1)
        await server.restart()
        expect(await server.command('GET', 'a')).toBe('1')
        await server.kill()
        await expect(server.command('PING')).rejects.toThrow('ECONNREFUSED')
      })
    })

    it.skipIf(whyNoTls(redisProgram))('requires a password and TLS if configured', async ({ expect }) => {
      await withServer({ password: 'a b', tls: true }, async (server) => {
        expect(server.url).toBe(`rediss://:a%20b@127.0.0.1:${server.port}`)
        expect(await server.command('PING')).toBe('PONG')
        expect(server.ca).toContain('BEGIN CERTIFICATE')
      })
    })

    it('rejects with the reason if it does not start', async ({ expect }) => {
      await expect(RedisServer.start({ args: ['--no-such-thing', 'yes'] })).rejects.toThrow(
        /did not start.*no-such-thing/s,
      )
      await withServer({}, async ({ port }) => {
        await expect(RedisServer.start({ port })).rejects.toThrow(/did not start.*in use/s)
      })
    })
  })

  describe.concurrent('a cluster of three', () => {
    it('redirects requests for the keys of others, also while a slot moves', async ({ expect }) => {
      await during(RedisCluster.start(), async (cluster) => {
        const slot = await cluster.slotOf('{job}:lease')
        expect(slot).toBe(await cluster.slotOf('job'))
        const from = await cluster.ownerOf(slot)
        const [to, third] = cluster.nodes.filter((node) => node !== from)
        if (to === undefined || third === undefined) throw new Error('too few nodes')
        expect(await from.command('SET', '{job}:lease', 'mine')).toBe('OK')
        await expect(to.command('GET', '{job}:lease')).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${from.port}`)

        await cluster.beginMigration(slot, from, to)
        expect(await from.command('GET', '{job}:lease')).toBe('mine')
        expect(await cluster.moveKeys(slot)).toBe(1)
        await expect(from.command('GET', '{job}:lease')).rejects.toThrow(`ASK ${slot} 127.0.0.1:${to.port}`)

        await cluster.endMigration(slot)
        expect(await to.command('GET', '{job}:lease')).toBe('mine')
        for (const node of [from, third]) {
          await expect(node.command('GET', '{job}:lease')).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${to.port}`)
        }
        expect(await cluster.ownerOf(slot)).toBe(to)
      })
    }, 60_000)
  })

  describe.concurrent('a master and its replica under sentinels', () => {
    it('change places, in order and when the master is lost', async ({ expect }) => {
      await during(RedisSentinel.start(), async (group) => {
        const [first, second] = group.servers
        expect([await group.master(), await group.replica()]).toEqual([first, second])
        await first.command('SET', 'a', 1)
        await first.command('WAIT', 1, 1_000)
        expect(await group.failover()).toBe(second)
        expect(await second.command('GET', 'a')).toBe('1')
        await eventually('the old master is a replica in sync', async () => {
          return String(await first.command('INFO', 'replication')).includes('master_link_status:up')
        })
        await expect(first.command('SET', 'a', 2)).rejects.toThrow('READONLY')
        expect(await group.loseMaster()).toBe(first)
        expect(await first.command('GET', 'a')).toBe('1')
      })
    }, 120_000)
  })
})
