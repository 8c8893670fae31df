import type { Grant } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { claimOf, granted, never, Scene } from './support/scene.js'

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

async function lent(test: (store: RedisLeaseStore, server: RedisServer) => Promise<void>): Promise<void> {
  await Scene.play(async (scene) => {
    const server = await scene.server()
    await test(scene.store(new Redis(server.port, { lazyConnect: true })), server)
  })
}

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
