import { randomUUID } from 'node:crypto'
import { type RedisClient, RedisGuard } from '@leasehold/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { UpstashFront } from '@leasehold/testing/upstash-front'
import type { GuardedResource, GuardSubject, OwnFailure } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { Redis as Upstash } from '@upstash/redis'
import { GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { Valkey } from 'iovalkey'
import { afterAll, beforeAll, expect, it } from 'vitest'

/** By any command that takes one value. */
interface Guarded extends GuardedResource {
  write(value: string, fencingToken: bigint, command?: string): Promise<unknown>
}

describeRedis('the guard of', () => {
  let server: RedisServer
  let client: Redis
  let bare: Redis
  let valkey: Valkey
  let glide: GlideClient
  let front: UpstashFront
  let upstash: Upstash

  beforeAll(async () => {
    server = await RedisServer.start()
    client = new Redis(server.url, { keyPrefix: 'app:' })
    bare = new Redis(server.url)
    valkey = new Valkey(server.url)
    glide = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port: server.port }] })
    front = await UpstashFront.start()
    upstash = new Upstash({ ...front.access(server), enableAutoPipelining: false })
  })

  afterAll(async () => {
    client.disconnect()
    bare.disconnect()
    valkey.disconnect()
    glide.close()
    await front.stop()
    await server.stop()
  })

  const ioredis: GuardSubject = {
    name: 'ioredis with a prefix, and without',
    start: (): ReturnType<GuardSubject['start']> => {
      const key = randomUUID()
      let count = 0
      const failingCommand: OwnFailure = {
        name: 'a command for another type',
        guarded: (guarded, token) => (guarded as Guarded).write('5', token, 'LPUSH'),
        unguarded: () => bare.call('LPUSH', `app:${key}`, '5'),
      }
      return {
        open: () => {
          count += 1
          // Every second one knows the key by its whole name.
          const [by, name] = count % 2 === 0 ? [bare, `app:${key}`] : [client, key]
          const guard = new RedisGuard(by)
          return {
            write: (value: string, token: bigint, command?: string) =>
              command === undefined ? guard.write(name, token, value) : guard.transact(name, token, [command, value]),
            delete: (token: bigint) => guard.delete(name, token),
          }
        },
        read: async () => (await bare.get(`app:${key}`)) ?? undefined,
        ownFailures: [failingCommand],
      }
    },
  }

  describeGuardLaws(ioredis)

  /** By clients of the other libraries, which put no prefix before keys. */
  function guardedBy(
    name: string,
    client: () => RedisClient,
    plain: (words: string[]) => Promise<unknown>,
  ): GuardSubject {
    return {
      name,
      start: () => {
        const key = randomUUID()
        const failingCommand: OwnFailure = {
          name: 'a command for another type',
          guarded: (guarded, token) => (guarded as Guarded).write('5', token, 'LPUSH'),
          unguarded: () => plain(['LPUSH', key, '5']),
        }
        return {
          open: () => {
            const guard = new RedisGuard(client())
            return {
              write: (value: string, token: bigint, command?: string) =>
                command === undefined ? guard.write(key, token, value) : guard.transact(key, token, [command, value]),
              delete: (token: bigint) => guard.delete(key, token),
            }
          },
          read: async () => (await bare.get(key)) ?? undefined,
          ownFailures: [failingCommand],
        }
      },
    }
  }

  describeGuardLaws(
    guardedBy(
      'iovalkey',
      () => valkey,
      ([command = '', ...args]) => valkey.call(command, args),
    ),
  )
  describeGuardLaws(
    guardedBy(
      'Valkey GLIDE',
      () => glide,
      (words) => glide.customCommand(words),
    ),
  )
  describeGuardLaws(
    guardedBy(
      '@upstash/redis',
      () => upstash,
      // The guard removes the command from the message.
      ([, key = '', ...values]) =>
        upstash.lpush(key, ...values).catch((error: Error) => {
          error.message = error.message.replace(/, command was: .*/s, '')
          throw error
        }),
    ),
  )

  it('passes results through as texts and numbers', async () => {
    for (const client of [valkey, glide, upstash]) {
      const guard = new RedisGuard(client)
      const key = randomUUID()
      const run = (script: string): Promise<unknown> => guard.transact(key, 1n, { script, keys: ['two'], args: ['a'] })
      expect(await run('return { #KEYS, #ARGV, KEYS[1], ARGV[1] }')).toEqual([2, 1, key, 'a'])
      expect(await run('return { 1, { "two", false }, {} }')).toEqual([1, ['two', null], []])
      expect(await run('return 7')).toBe(7)
      for (const text of ['7', 'null', 'true', 'fenced', '{}']) expect(await run(`return '${text}'`)).toBe(text)
      for (const none of ['', 'return nil', 'return false']) expect(await run(none)).toBeNull()
    }
  })

  it('puts the prefix of iovalkey before the key once', async () => {
    const prefixed = new Valkey(server.url, { keyPrefix: 'app:' })
    await new RedisGuard(prefixed).write('prefixed', 1n, 'a')
    expect(await server.command('GET', 'app:prefixed')).toBe('a')
    prefixed.disconnect()
  })
})
