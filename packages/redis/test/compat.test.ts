import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseConfigurationError, systemClock } from '@leasehold/core'
import { RedisLeaseStore, type RedisLeaseStoreOptions } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import Redlock from 'redlock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Scene } from './support/scene.js'

const LIBRARIES = [
  { library: 'redlock', key: 'job' },
  { library: 'redis-semaphore', key: 'mutex:job' },
  { library: 'shedlock-redis', key: 'job-lock:default:job' },
] as const

const unused = new Redis({ lazyConnect: true })

describe('compat', () => {
  const storeWith = (compat: unknown) => () => new RedisLeaseStore(unused, { compat } as RedisLeaseStoreOptions)

  it('refuses a library that it does not know, and lists those that it knows', () => {
    expect(storeWith('redlok')).toThrow(LeaseConfigurationError)
    expect(storeWith('redlok')).toThrow('compat must be one of redlock, redis-semaphore, shedlock-redis, not "redlok"')
    expect(storeWith(null)).toThrow(LeaseConfigurationError)
    expect(storeWith({ key: () => 'a' })).toThrow('compat must be one of')
  })

  it('refuses an unknown option, and a key that is no function', () => {
    expect(storeWith({ library: 'redlock', name: 'a' })).toThrow("compat has no option 'name'")
    expect(storeWith({ library: 'redlock', key: 'locks:job' })).toThrow('key of compat must be a function')
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no')
      },
      'key of compat threw',
    ],
    ['returns nothing', () => undefined, 'not undefined'],
    ['returns no text', () => 7, 'not 7'],
    ['returns an empty text', () => '', 'not ""'],
    ['returns the key of the lease', () => 'leasehold:{job}', 'give another prefix'],
  ])('rejects the call whose key %s, before anything is sent', async (_, key, message) => {
    const store = storeWith({ library: 'redlock', key })()
    await expect(store.read('job', never)).rejects.toThrow(LeaseConfigurationError)
    await expect(store.read('job', never)).rejects.toThrow(message)
    await store.close()
  })
})

describeRedis('a store with compat', () => {
  let server: RedisServer
  let client: Redis
  let count = 0

  beforeAll(async () => {
    server = await RedisServer.start()
    client = new Redis(server.port)
  })

  afterAll(async () => {
    client.disconnect()
    await server.stop()
  })

  /** A scene with a lease name and an old key of its own. */
  async function play(
    act: (scene: Scene, old: { store: RedisLeaseStore; key: string; name: string }) => Promise<void>,
  ) {
    await Scene.play(async (scene) => {
      count += 1
      const key = `old:${count}`
      await act(scene, {
        store: scene.store(client, { compat: { library: 'redlock', key: () => key } }),
        key,
        name: `job-${count}`,
      })
    })
  }

  it.each(LIBRARIES)('uses the key of $library, after the keyPrefix of the client', async ({ library, key }) => {
    const keyPrefix = `app-${library}:`
    const prefixed = new Redis(server.port, { keyPrefix })
    await Scene.play(async (scene) => {
      const grant = await granted(scene.store(prefixed, { compat: library }), 'g')
      expect(await client.get(keyPrefix + key)).toBe('g')
      expect(grant.fencingToken).toBeGreaterThan(0n)
    })
    prefixed.disconnect()
  })

  it('is refused while a process of the other library holds, and shows it as the holder', async () => {
    await play(async (_, { store, key, name }) => {
      await client.set(key, 'ADDED:now@host ü', 'PX', 5_000)
      const outcome = await store.acquire(claimOf('g', { name }), never)
      if (outcome.granted) throw new Error('granted')
      expect(outcome.holder).toMatchObject({ owner: 'redlock', state: 'leased', grantId: 'ADDED:now@host __' })
      expect(outcome.holder?.remaining).toBeGreaterThan(4_000)
      expect(outcome.holder?.remaining).toBeLessThanOrEqual(5_000)
      expect(await store.read(name, never)).toMatchObject({ owner: 'redlock', state: 'leased' })
      expect(await client.get(key)).toBe('ADDED:now@host ü')
    })
  })

  it('shows a lock that never expires', async () => {
    await play(async (_, { store, key, name }) => {
      await client.set(key, '')
      expect(await store.read(name, never)).toMatchObject({ grantId: '', remaining: Number.POSITIVE_INFINITY })
    })
  })

  it('holds the key as long as the lease, and longer by a millisecond', async () => {
    await play(async (_, { store, key, name }) => {
      const grant = await granted(store, 'g', { name, ttl: 1_000 })
      expect(await client.pttl(key)).toBeGreaterThan(900)
      await client.pexpire(key, 500)
      expect(await store.renew(grant, never)).toEqual({ renewed: true })
      expect(await client.pttl(key)).toBeGreaterThan(900)
      expect(await store.release(grant, never)).toEqual({ released: true })
      expect(await client.get(key)).toBeNull()
      expect(await store.read(name, never)).toMatchObject({ state: 'available' })
    })
  })

  it('renews many with one call: a key that fails costs only its own lease', async () => {
    await Scene.play(async (scene) => {
      let broken = ''
      const key = (name: string) => {
        if (name === broken) throw new Error('no key')
        return `many:${name}`
      }
      const store = scene.store(client, { compat: { library: 'redlock', key } })
      const names = ['m-1', 'm-2', 'm-3']
      const grants = await Promise.all(names.map((name) => granted(store, `g-${name}`, { name })))
      await client.set('many:m-3', 'another')
      broken = 'm-1'
      const [first, second, third] = (await store.renewMany?.(grants, never)) ?? []
      expect(first).toBeInstanceOf(LeaseConfigurationError)
      expect(second).toEqual({ renewed: true })
      expect(third).toMatchObject({ renewed: false, reason: 'taken', holder: { owner: 'redlock' } })
    })
  })

  it('has lost a lease whose key another has: it says so, frees the lease and leaves the key alone', async () => {
    await play(async (_, { store, key, name }) => {
      const grant = await granted(store, 'g', { name })
      await client.set(key, 'another', 'PX', 5_000)
      expect(await store.renew(grant, never)).toMatchObject({
        renewed: false,
        reason: 'taken',
        holder: { owner: 'redlock' },
      })
      expect(await client.get(key)).toBe('another')
      expect(await store.release(grant, never)).toMatchObject({ released: false, holder: { owner: 'redlock' } })
      expect(await client.get(key)).toBe('another')
      await client.del(key)
      expect((await store.acquire(claimOf('h', { name }), never)).granted).toBe(true)
    })
  })

  it('deletes only its own key when it releases', async () => {
    await play(async (_, { store, key, name }) => {
      const grant = await granted(store, 'g', { name })
      await client.set(key, 'another', 'PX', 5_000)
      expect(await store.release(grant, never)).toEqual({ released: true })
      expect(await client.get(key)).toBe('another')
    })
  })

  it('has lost a lease whose key is gone: another may have held it meanwhile', async () => {
    await play(async (_, { store, key, name }) => {
      const grant = await granted(store, 'g', { name })
      await client.del(key)
      expect(await store.renew(grant, never)).toEqual({ renewed: false, reason: 'deleted' })
      expect(await client.exists(key)).toBe(0)
    })
  })

  it('does not revive an expired lease whose key is gone', async () => {
    await play(async (_, { store, name }) => {
      const grant = await granted(store, 'g', { name, ttl: 30 })
      await sleep(60)
      expect(await store.renew(grant, never)).toEqual({ renewed: false, reason: 'expired' })
    })
  })

  it('grants a repeated claim again, but not under a key that another has taken meanwhile', async () => {
    await play(async (_, { store, key, name }) => {
      const { fencingToken } = await granted(store, 'g', { name })
      expect((await granted(store, 'g', { name })).fencingToken).toBe(fencingToken)
      await client.set(key, 'another', 'PX', 5_000)
      expect(await store.acquire(claimOf('g', { name }), never)).toMatchObject({
        granted: false,
        holder: { owner: 'redlock' },
      })
    })
  })

  it('hands a lease off together with its key', async () => {
    await play(async (_, { store, key, name }) => {
      const grant = await granted(store, 'g', { name })
      expect(await store.change(grant, { grantId: 'h', owner: 'bert' }, never)).toMatchObject({ granted: true })
      expect(await client.get(key)).toBe('h')
    })
  })

  it('does not hand off what it has lost', async () => {
    await play(async (_, { store, key, name }) => {
      const grant = await granted(store, 'g', { name })
      await client.set(key, 'another', 'PX', 5_000)
      expect(await store.change(grant, { grantId: 'h', owner: 'bert' }, never)).toMatchObject({ granted: false })
      expect(await client.get(key)).toBe('another')
    })
  })

  it('raises the token of a grant that has its key, and extends the key', async () => {
    await play(async (_, { store, key, name }) => {
      const grant = await granted(store, 'g', { name, ttl: 1_000 })
      await client.pexpire(key, 500)
      const token = grant.fencingToken + 10n ** 12n
      expect(await store.raiseToken(grant, token, never)).toEqual({ renewed: true })
      expect(await client.pttl(key)).toBeGreaterThan(900)
      expect(await store.read(name, never)).toMatchObject({ grantId: 'g', fencingToken: token })
      await client.set(key, 'another', 'PX', 5_000)
      expect(await store.raiseToken(grant, 2n * token, never)).toMatchObject({
        renewed: false,
        reason: 'taken',
        holder: { owner: 'redlock' },
      })
      await client.del(key)
      const next = await granted(store, 'h', { name })
      expect(next.fencingToken).toBe(token + 1n)
    })
  })

  it('shortens the key of a lease that is broken', async () => {
    await play(async (_, { store, key, name }) => {
      await granted(store, 'g', { name })
      await store.break(name, { period: 200 }, never)
      expect(await client.pttl(key)).toBeLessThanOrEqual(201)
      await store.break(name, { period: 0 }, never)
      expect(await client.exists(key)).toBe(0)
    })
  })

  it('refuses a key that holds other data', async () => {
    await play(async (_, { store, key, name }) => {
      await client.zadd(key, 1, 'member')
      const claim = store.acquire(claimOf('g', { name }), never)
      await expect(claim).rejects.toThrow(LeaseConfigurationError)
      await expect(claim).rejects.toThrow(`the key '${key}' of compat holds other data than a lock`)
    })
  })

  it('lets a waiter in soon after the other library has released, which notifies nobody', async () => {
    await play(async (scene, { store, key, name }) => {
      await client.set(key, 'another', 'PX', 60_000)
      const { lease } = scene.player('anna', store, { name })
      const acquired = lease.acquire({ wait: 30_000 })
      await eventually('a place in line', async () => (await client.hexists(`leasehold:{${name}}`, 'line')) === 1)
      await client.del(key)
      const from = systemClock.now()
      expect(await acquired).toBe(true)
      expect(systemClock.now() - from).toBeLessThan(10_000)
    })
  })

  it('excludes redlock in both directions', async () => {
    await play(async (scene, { store, key, name }) => {
      const redlock = new Redlock([client], { retryCount: 0 })
      const { lease } = scene.player('anna', store, { name })
      expect(await lease.acquire()).toBe(true)
      await expect(redlock.acquire([key], 1_000)).rejects.toThrow()
      await lease.release()
      const lock = await redlock.acquire([key], 10_000)
      expect(await lease.acquire()).toBe(false)
      expect(await lease.holder()).toMatchObject({ owner: 'redlock' })
      await lock.release()
      expect(await lease.acquire()).toBe(true)
    })
  })

  it('and one without: the lease excludes both, so that the option can be dropped process by process', async () => {
    await play(async (scene, { store, name }) => {
      const later = scene.player('later', scene.store(client), { name })
      const { lease } = scene.player('anna', store, { name })
      expect(await lease.acquire()).toBe(true)
      expect(await later.lease.acquire()).toBe(false)
      await lease.release()
      expect(await later.lease.acquire()).toBe(true)
      expect(await lease.acquire()).toBe(false)
    })
  })
})

describeRedis('compat in a cluster', () => {
  it('needs old key and lease in one slot, and says how', { timeout: 60_000 }, async () => {
    await Scene.play(async (scene) => {
      const cluster = await scene.cluster()
      const { Cluster } = await import('ioredis')
      const client = new Cluster(
        cluster.nodes.map(({ port }) => ({ port, host: '127.0.0.1' })),
        { lazyConnect: true },
      )
      scene.atEnd(async () => client.disconnect())
      // The key of redlock is the hash tag of the lease.
      const store = scene.store(client, { compat: 'redlock' })
      await granted(store, 'g', { name: 'orders' })
      expect(await client.get('orders')).toBe('g')
      const other = scene.store(client, { compat: 'redis-semaphore' })
      const claim = other.acquire(claimOf('h', { name: 'orders' }), never)
      await expect(claim).rejects.toThrow(LeaseConfigurationError)
      await expect(claim).rejects.toThrow("with the prefix 'leasehold:{mutex:orders}:'")
      const own = scene.store(client, { compat: 'redis-semaphore', prefix: 'leasehold:{mutex:orders}:' })
      await granted(own, 'i', { name: 'orders' })
      expect(await client.get('mutex:orders')).toBe('i')
    })
  })
})
