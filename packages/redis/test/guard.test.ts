import {
  LeaseConfigurationError,
  LeaseError,
  LeaseLostError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { type RedisClient, RedisGuard } from '@leasehold/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { TcpProxy } from '@leasehold/testkit'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RedisCluster } from './support/redis-cluster.js'

describeRedis('RedisGuard', () => {
  let server: RedisServer
  const ends: (() => unknown)[] = []

  beforeAll(async () => {
    server = await RedisServer.start()
  })

  afterAll(async () => {
    for (const end of ends) await end()
    await server.stop()
  })

  async function clientOf(
    library: 'ioredis' | 'node-redis',
    keyPrefix = '',
    user: { username?: string; password?: string } = {},
  ): Promise<RedisClient> {
    if (library === 'ioredis') {
      const client = new Redis(server.url, { keyPrefix, ...user })
      ends.push(() => client.disconnect())
      return client
    }
    const client = await createClient({ url: server.url, keyPrefix, ...user }).connect()
    ends.push(() => client.destroy())
    return client
  }

  describe.each(['ioredis', 'node-redis'] as const)('by %s', (library) => {
    it('accepts writes with the same and larger tokens, and rejects smaller ones', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const key = `account of ${library}`
      expect(await guard.transact(key, 9n, ['SET', 'a'])).toBe('OK')
      await guard.write(key, 9n, 'b')
      // Larger as a number, smaller as a text.
      await guard.transact(key, 10n, ['APPEND', 'c'])
      const late = guard.write(key, 9n, 'late')
      await expect(late).rejects.toBeInstanceOf(LeaseLostError)
      await expect(late).rejects.toMatchObject({
        reason: 'taken',
        message: expect.stringContaining('is older than 10'),
      })
      expect(await server.command('GET', key)).toBe('bc')
    })

    it('compares tokens that are too large for a double', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const [smaller, larger] = [2n ** 64n, 2n ** 64n + 1n]
      await guard.write(`big ${library}`, larger, 'x')
      await expect(guard.write(`big ${library}`, smaller, 'y')).rejects.toBeInstanceOf(LeaseLostError)
    })

    it('gives the script its own keys and arguments and no variables of the guard, and returns its result', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const key = `results of ${library}`
      const run = (script: string): Promise<unknown> => guard.transact(key, 1n, { script, keys: ['two'], args: ['a'] })
      expect(await run('return { #KEYS, #ARGV, KEYS[1], ARGV[1] }')).toEqual([2, 1, key, 'a'])
      expect(await run('return { 1, { "two", false }, {} }')).toEqual([1, ['two', null], []])
      expect(await run('return redis.status_reply("FINE")')).toBe('FINE')
      expect(await run('return 7 -- seven')).toBe(7)
      expect(await run('return "fenced"')).toBe('fenced')
      for (const none of ['', 'return', 'return nil', 'return false']) expect(await run(none)).toBeNull()
      for (const name of ['fence', 'token', 'seen', 'work']) await expect(run(`return ${name}`)).rejects.toThrow(name)
    })

    it('uses the key prefix of the client, and shares the fence of a key with clients that have another prefix', async () => {
      const [prefixed, plain] = [
        new RedisGuard(await clientOf(library, `app-${library}:`)),
        new RedisGuard(await clientOf(library)),
      ]
      for (const key of ['k', '{tag}:k']) {
        const whole = `app-${library}:${key}`
        await prefixed.write(key, 3n, 'v')
        expect(await server.command('GET', whole)).toBe('v')
        await expect(prefixed.write(key, 2n, 'late')).rejects.toBeInstanceOf(LeaseLostError)
        await expect(plain.write(whole, 2n, 'late')).rejects.toBeInstanceOf(LeaseLostError)
        await plain.write(whole, 4n, 'next')
        await expect(prefixed.write(key, 3n, 'late')).rejects.toBeInstanceOf(LeaseLostError)
        expect(await server.command('GET', whole)).toBe('next')
      }
      expect(await server.command('GET', `leasehold:fence:{app-${library}:k}`)).toBe('4')
      expect(await server.command('GET', `leasehold:fence:{tag}:app-${library}:{tag}:k`)).toBe('4')
    })

    it("passes the errors of the caller's command through, and leaves the fence as it was", async () => {
      const client = await clientOf(library)
      const guard = new RedisGuard(client)
      for (const [key, fence] of [['fresh', null] as const, ['known', '3'] as const]) {
        const list = `${key} list of ${library}`
        const own = await plainly(client, "return redis.error_reply('OWN')", key).catch((error: unknown) => error)
        if (fence !== null) await guard.transact(list, BigInt(fence), ['RPUSH', 'a'])
        else await server.command('RPUSH', list, 'a')
        const failing = [
          guard.transact(list, 9n, ['SET', 'x', 'BAD']),
          guard.transact(list, 9n, ['INCR']),
          guard.transact(list, 9n, ['NO-SUCH-COMMAND']),
          guard.transact(list, 9n, ['LSET']),
        ]
        const said = [
          /^ERR syntax error/,
          /^WRONGTYPE Operation against a key/,
          /^ERR Unknown (Redis )?command/,
          /^ERR Wrong number/,
        ]
        for (const [index, result] of (await Promise.allSettled(failing)).entries()) {
          if (result.status === 'fulfilled') expect.fail(`command ${index} did not fail`)
          expect(result.reason).not.toBeInstanceOf(LeaseError)
          expect(result.reason.message).toMatch(said[index] ?? /never/)
          expect(result.reason.constructor).toBe((own as Error).constructor)
        }
        expect(await server.command('GET', `leasehold:fence:{${list}}`)).toBe(fence)
        await guard.transact(list, 3n, ['RPUSH', 'b'])
        expect(await server.command('LRANGE', list, 0, -1)).toEqual(['a', 'b'])
      }
    })

    it("passes the errors of the caller's script through, as they are without a guard", async () => {
      const client = await clientOf(library)
      const guard = new RedisGuard(client)
      const key = `scripts of ${library}`
      await server.command('RPUSH', key, 'a')
      const scripts = [
        "return redis.error_reply('MINE no')",
        "return redis.error_reply('FENCED 3')",
        "return redis.error_reply('NOPERM and NOLEASE and unknown command')",
        "error('FENCED 3', 0)",
        "\n\nreturn redis.call('INCR', KEYS[1])",
        'local x\nreturn x.y',
        'return nonsense',
        'return return',
      ]
      for (const script of scripts) {
        const [expected, actual] = await Promise.all(
          [plainly(client, script, key), guard.transact(key, 1n, { script })].map((asked) =>
            asked.catch((error: unknown) => error),
          ),
        )
        expect(actual).toBeInstanceOf(Error)
        expect(actual).not.toBeInstanceOf(LeaseError)
        expect((actual as Error).constructor).toBe((expected as Error).constructor)
        expect(withoutHash(actual)).toBe(withoutHash(expected))
      }
    })

    it('keeps the fence of a script that fails after it has written', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const key = `half of ${library}`
      const script = "redis.call('SET', KEYS[1], 'half') return redis.error_reply('MINE no')"
      await expect(guard.transact(key, 5n, { script })).rejects.toThrow('MINE no')
      await expect(guard.write(key, 4n, 'late')).rejects.toBeInstanceOf(LeaseLostError)
      expect(await server.command('GET', key)).toBe('half')
    })

    it('rejects an old token also after the key was deleted', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const key = `deleted by ${library}`
      await guard.write(key, 3n, 'a')
      await guard.delete(key, 4n)
      await expect(guard.write(key, 3n, 'late')).rejects.toBeInstanceOf(LeaseLostError)
      expect(await server.command('EXISTS', key)).toBe(0)
    })

    it('writes thousands of arguments, and rejects more than Lua can pass on before it sets the fence', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const key = `many of ${library}`
      const items = Array.from({ length: 8_000 }, (_, item) => String(item))
      await expect(guard.transact(key, 9n, ['RPUSH', ...items])).rejects.toThrow(LeaseConfigurationError)
      expect(await server.command('EXISTS', key, `leasehold:fence:{${key}}`)).toBe(0)
      expect(await guard.transact(key, 8n, ['RPUSH', ...items.slice(0, 7_900)])).toBe(7_900)
      const portions = `
        for from = 1, #ARGV, 1000 do redis.call('RPUSH', KEYS[1], unpack(ARGV, from, math.min(from + 999, #ARGV))) end
        return redis.call('LLEN', KEYS[1])`
      expect(await guard.transact(key, 9n, { script: portions, args: items })).toBe(15_900)
    })

    it('rejects and writes nothing if the key of the fence holds other data', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const key = `blocked of ${library}`
      await server.command('RPUSH', `leasehold:fence:{${key}}`, 'x')
      const refused = guard.write(key, 1n, 'v')
      await expect(refused).rejects.toBeInstanceOf(LeaseConfigurationError)
      await expect(refused).rejects.toThrow(`leasehold:fence:{${key}}`)
      expect(await server.command('EXISTS', key)).toBe(0)
    })

    it('rejects and writes nothing if the user has no permission for the fence', async () => {
      const [username, key] = [`limited-${library}`, `data:${library}`]
      await server.command('ACL', 'SETUSER', username, 'on', '>secret', '+@all', '-set', '~*')
      const guard = new RedisGuard(await clientOf(library, '', { username, password: 'secret' }))
      const refused = guard.transact(key, 1n, ['RPUSH', 'v'])
      await expect(refused).rejects.toBeInstanceOf(LeaseUnauthorisedError)
      expect(await server.command('EXISTS', key)).toBe(0)
    })

    it("rejects with the reason of the caller's signal", async () => {
      const guard = new RedisGuard(await clientOf(library))
      const signal = AbortSignal.abort(new Error('too late'))
      await expect(guard.transact('k', 1n, { script: 'return 1' }, { signal })).rejects.toBe(signal.reason)
    })
  })

  it('rejects invalid tokens, and keys without room for a fence in their slot', async () => {
    const guard = new RedisGuard(await clientOf('ioredis'))
    await expect(guard.write('k', -1n, 'v')).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(guard.write('k', 1 as unknown as bigint, 'v')).rejects.toBeInstanceOf(LeaseConfigurationError)
    for (const key of ['a}b', 'a{}b', '{}{b}']) {
      await expect(guard.write(key, 1n, 'v')).rejects.toBeInstanceOf(LeaseConfigurationError)
    }
    expect(() => new RedisGuard({} as RedisClient)).toThrow(LeaseConfigurationError)
  })

  it('rejects if the server is down', async () => {
    const options = { port: 1, lazyConnect: true }
    const clients = [
      new Redis({ ...options, retryStrategy: null, maxRetriesPerRequest: 0 }),
      new Redis({ ...options, retryStrategy: () => 10, maxRetriesPerRequest: 1 }),
      createClient({ url: 'redis://127.0.0.1:1' }),
    ]
    for (const client of clients) {
      client.on('error', () => {})
      const write = new RedisGuard(client).write('k', 1n, 'v')
      await expect(write).rejects.toBeInstanceOf(LeaseUnavailableError)
      if (client instanceof Redis) client.disconnect()
    }
  })

  it('rejects with the reason of the signal also while the client connects', async () => {
    const way = await TcpProxy.to(server.port)
    way.blackHole()
    const client = createClient({ url: `redis://127.0.0.1:${way.port}` })
    client.on('error', () => {})
    client.connect().catch(() => {})
    const limit = new AbortController()
    const asked = new RedisGuard(client).transact('k', 1n, { script: 'return 1' }, { signal: limit.signal })
    const reason = new Error('too late')
    limit.abort(reason)
    await expect(asked).rejects.toBe(reason)
    client.destroy()
    await way.close()
  })

  it('keeps the token in the slot of the key in a cluster, with and without a hash tag', async () => {
    const cluster = await RedisCluster.start()
    const port = cluster.nodes[0]?.port ?? 0
    const ioredis = new Cluster([{ host: '127.0.0.1', port }], { keyPrefix: 'app:' })
    const nodeRedis = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })
    await nodeRedis.connect()
    for (const client of [ioredis, nodeRedis]) {
      const guard = new RedisGuard(client)
      for (const key of ['plain', 'user:{7}:seats', '{8}', 'a{b']) {
        await guard.write(key, 5n, 'v')
        await expect(guard.write(key, 4n, 'late')).rejects.toBeInstanceOf(LeaseLostError)
      }
    }
    for (const key of ['plain', 'user:{7}:seats', '{8}']) {
      await expect(new RedisGuard(nodeRedis).write(`app:${key}`, 4n, 'late')).rejects.toBeInstanceOf(LeaseLostError)
    }
    ioredis.disconnect()
    nodeRedis.destroy()
    await cluster.stop()
  })
})

/** Runs a script on a key without a guard. */
async function plainly(client: RedisClient, script: string, key: string): Promise<unknown> {
  if (client instanceof Redis) return await client.eval(script, 1, key)
  return await (client as ReturnType<typeof createClient>).eval(script, { keys: [key] })
}

/** The message without the hash of the script. */
function withoutHash(error: unknown): string {
  return error instanceof Error ? error.message.replaceAll(/[0-9a-f]{40}/g, '…') : String(error)
}
