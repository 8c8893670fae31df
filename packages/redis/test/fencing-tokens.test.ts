import { type Grant, LeaseConfigurationError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { RedisLeaseStore, RedisLeaseStoreOptions } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { Scene } from './support/scene.js'

const KEY = 'leasehold:{job}'
const COPY = 'copy of the key'

/** A record, and a way in which the script grants the lease that the record describes. */
interface Shape {
  readonly name: string
  /** Brings the record into this shape; the lease is free afterwards, unless it can be handed on. */
  prepare(store: RedisLeaseStore, server: RedisServer): Promise<unknown>
  grant(store: RedisLeaseStore, id: string): Promise<Grant>
}

const again = (store: RedisLeaseStore, id: string): Promise<Grant> => granted(store, id)

const free = async (store: RedisLeaseStore): Promise<void> => {
  await store.release(await granted(store, 'first'), never)
}

async function flagsOf(server: RedisServer): Promise<string> {
  return String(await server.command('HGET', KEY, 'lease')).slice(61, 64)
}

const shapes: readonly Shape[] = [
  { name: 'a lease without waiters and watchers', prepare: free, grant: again },
  {
    name: 'a lease with a waiter',
    prepare: async (store, server) => {
      const first = await granted(store, 'first')
      await store.acquire(claimOf('next', { queue: true }), never)
      await store.release(first, never)
      expect(await flagsOf(server)).toBe('l--')
    },
    grant: (store) => granted(store, 'next', { queue: true }),
  },
  {
    name: 'a lease with a watcher',
    prepare: async (store, server) => {
      await free(store)
      const watch = new AbortableCall()
      const words = store.watch('job', watch)
      const heard = words.next()
      await eventually('it is watched', async () => (await flagsOf(server)) === '-w-')
      watch.abort()
      await heard
    },
    grant: again,
  },
  {
    name: 'a lease that was broken for a reason',
    prepare: async (store, server) => {
      await granted(store, 'first')
      await store.break('job', { period: 0, reason: 'maintenance' }, never)
      expect(await flagsOf(server)).toBe('--r')
    },
    grant: again,
  },
  {
    name: 'a lease that is granted for longer than its key was kept',
    prepare: async (store) => {
      await store.release(await granted(store, 'first', { ttl: 1_000 }), never)
    },
    grant: (store, id) => granted(store, id, { ttl: 30 * 86_400_000 }),
  },
  {
    name: 'a lease that is granted without an expiry',
    prepare: free,
    grant: (store, id) => granted(store, id, { ttl: Number.POSITIVE_INFINITY }),
  },
  {
    name: 'a lease that is handed on',
    prepare: (store) => granted(store, 'first'),
    grant: async (store, id) => {
      const holder = await store.read('job', never)
      if (holder === undefined) throw new Error('the lease has no holder')
      const outcome = await store.change({ ttl: 1_000, ...holder }, { grantId: id, owner: id }, never)
      if (!outcome.granted) throw new Error(`held by ${outcome.holder?.owner}`)
      return outcome.grant
    },
  },
]

async function lent(
  test: (store: RedisLeaseStore, server: RedisServer) => Promise<void>,
  options: RedisLeaseStoreOptions = {},
): Promise<void> {
  await Scene.play(async (scene) => {
    const server = await scene.server()
    await test(scene.store(new Redis(server.port, { lazyConnect: true }), options), server)
  })
}

const LONG_LIFE = { recordLife: 36_600 * 86_400_000 }

/** Microseconds. */
const HOUR = 3_600_000_000n

/** The time of the server, in microseconds. */
async function timeOf(server: RedisServer): Promise<bigint> {
  const [seconds, micros] = (await server.command('TIME')) as [string, string]
  return BigInt(seconds) * 1_000_000n + BigInt(micros)
}

/** Until when the record is kept, in microseconds. */
async function keptUntil(server: RedisServer): Promise<bigint> {
  return (await timeOf(server)) + BigInt(Number(await server.command('PTTL', KEY))) * 1_000n
}

describeRedis('a raised token', () => {
  describe.concurrent('', { timeout: 30_000 }, () => {
    it('is kept with its record until the clock has passed it', async () => {
      await lent(async (store, server) => {
        const token = (await timeOf(server)) + 1_000n * 24n * HOUR
        const first = await granted(store, 'first')
        expect(await store.raiseToken(first, token, never)).toEqual({ renewed: true })
        expect(await keptUntil(server)).toBeGreaterThan(token)
        await store.release({ ...first, fencingToken: token }, never)
        expect(await keptUntil(server)).toBeGreaterThan(token)
        // Not longer than that: names come and go.
        expect(await keptUntil(server)).toBeLessThan(token + 20n * 24n * HOUR)
        const next = await granted(store, 'next grant')
        expect(next.fencingToken).toBe(token + 1n)
        await store.renew(next, never)
        expect(await keptUntil(server)).toBeGreaterThan(next.fencingToken)
      })
    })

    it('up to nine quadrillion is exact, and the next ones follow it one by one', async () => {
      await lent(async (store, server) => {
        const limit = 9_000_000_000_000_000n
        const first = await granted(store, 'first')
        const tooLarge = store.raiseToken(first, limit, never)
        await expect(tooLarge).rejects.toBeInstanceOf(LeaseConfigurationError)
        await expect(tooLarge).rejects.toThrow(`below ${limit}`)
        expect(await store.raiseToken(first, limit - 1n, never)).toEqual({ renewed: true })
        for (const ttl of [10_000, Number.POSITIVE_INFINITY, 10_000]) {
          const last = (await store.read('job', never)) ?? first
          await store.release({ ttl, ...last }, never)
          const next = await granted(store, `after ${last.grantId}`, { ttl })
          expect(next.fencingToken).toBe(last.fencingToken + 1n)
          // A later instant has no text in a record.
          expect(await server.command('PTTL', KEY)).toBe(-1)
        }
      }, LONG_LIFE)
    })

    it.each([
      ['ahead of the clock', HOUR],
      ['of the past', 1n],
    ])('%s leaves the time of the grant, and the next grant has its own', async (_, by) => {
      await lent(async (store, server) => {
        const first = await granted(store, 'first')
        const before = await store.read('job', never)
        for (const step of [by, 2n * by]) {
          await store.raiseToken(first, first.fencingToken + step, never)
          const { grantedAt, fencingToken } = (await store.read('job', never)) ?? {}
          expect({ grantedAt, fencingToken }).toEqual({
            grantedAt: before?.grantedAt,
            fencingToken: first.fencingToken + step,
          })
        }
        await store.release({ ...first, fencingToken: first.fencingToken + 2n * by }, never)
        const time = BigInt(before?.grantedAt ?? 0) * 1_000n
        await eventually('the clock has gone on', async () => (await timeOf(server)) >= time + 1_000n)
        await granted(store, 'next grant')
        expect((await store.read('job', never))?.grantedAt).toBeGreaterThan(before?.grantedAt ?? 0)
      })
    })

    it('is not given to a grant that is over', async () => {
      await lent(async (store) => {
        const first = await granted(store, 'first')
        await store.release(first, never)
        const far = first.fencingToken + HOUR
        expect(await store.raiseToken(first, far, never)).toEqual({ renewed: false, reason: 'expired' })
        const next = await granted(store, 'next grant')
        expect(next.fencingToken).toBeLessThan(far)
        expect(await store.raiseToken(first, far, never)).toMatchObject({ renewed: false, reason: 'taken' })
        expect(await store.read('job', never)).toMatchObject({ fencingToken: next.fencingToken })
      })
    })
  })
})

describeRedis('fencing tokens', () => {
  describe.concurrent.each(shapes)('of $name', { timeout: 30_000 }, ({ prepare, grant }) => {
    it('are larger than all before after an older record has returned', async () => {
      await lent(async (store, server) => {
        await prepare(store, server)
        await server.command('COPY', KEY, COPY)
        const late = await grant(store, 'late')
        await server.command('COPY', COPY, KEY, 'REPLACE')
        const next = await grant(store, 'next grant')
        expect(next.fencingToken).toBeGreaterThan(late.fencingToken)
      })
    })

    it('are larger than the last one after the clock of the server was set back', async () => {
      await lent(async (store, server) => {
        await prepare(store, server)
        const ahead = 8_000_000_000_000_000n
        const lease = String(await server.command('HGET', KEY, 'lease'))
        await server.command('HSET', KEY, 'lease', lease.slice(0, 27) + ahead + lease.slice(43))
        expect((await grant(store, 'next grant')).fencingToken).toBe(ahead + 1n)
      })
    })
  })
})
