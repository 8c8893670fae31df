import { LeaseConflictError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { Scene } from './support/scene.js'

const KEY = 'leasehold:{job}'
const LIFE = 5_000
const TTL = 60_000

async function during(test: (store: RedisLeaseStore, server: RedisServer) => Promise<void>): Promise<void> {
  await Scene.play(async (scene) => {
    const server = await scene.server()
    const client = new Redis(server.port, { lazyConnect: true })
    await test(scene.store(client, { recordLife: LIFE }), server)
  })
}

/** Moves the instant until when the lease is locked into the past. */
async function expire(server: RedisServer): Promise<void> {
  const lease = String(await server.command('HGET', KEY, 'lease'))
  await server.command('HSET', KEY, 'lease', `${lease.slice(0, 10)}1700000000000000${lease.slice(26)}`)
}

describeRedis('the script', () => {
  describe.concurrent('rules', { timeout: 60_000 }, () => {
    it('a lease without an expiry keeps its key while it is held, and no longer', async () => {
      await during(async (store, server) => {
        const grant = await granted(store, 'a', { ttl: Number.POSITIVE_INFINITY })
        expect(await server.command('PTTL', KEY)).toBe(-1)
        await store.release(grant, never)
        const left = Number(await server.command('PTTL', KEY))
        expect(left).toBeGreaterThan(0)
        expect(left).toBeLessThan(2 * LIFE)
        expect(await store.read('job', never)).toMatchObject({ state: 'available' })
      })
    })

    it('a lease that is renewed while it has a waiter keeps its key beyond the ttl', async () => {
      await during(async (store, server) => {
        const grant = await granted(store, 'a', { ttl: TTL })
        await store.acquire(claimOf('b', { queue: true }), never)
        // As if its last renewal had been long ago.
        await server.command('PEXPIRE', KEY, TTL + LIFE / 2)
        const lease = String(await server.command('HGET', KEY, 'lease'))
        const kept = BigInt(lease.slice(10, 26)) + BigInt(LIFE * 500)
        await server.command('HSET', KEY, 'lease', lease.slice(0, 44) + kept + lease.slice(60))
        await store.renew(grant, never)
        expect(Number(await server.command('PTTL', KEY))).toBeGreaterThan(TTL + LIFE / 2)
      })
    })

    it('a claim that is repeated or handed on keeps its metadata, unless it has new metadata', async () => {
      await during(async (store) => {
        const grant = await granted(store, 'a', { metadata: { host: 'x' } })
        expect(await granted(store, 'a')).toEqual(grant)
        expect(await store.read('job', never)).toMatchObject({ metadata: { host: 'x' } })
        expect(await granted(store, 'a', { metadata: { host: 'y' } })).toEqual(grant)
        await store.change(grant, { grantId: 'b', owner: 'b' }, never)
        expect(await store.read('job', never)).toMatchObject({ owner: 'b', metadata: { host: 'y' } })
      })
    })

    it('a hand-over that is repeated keeps its token', async () => {
      await during(async (store) => {
        const grant = await granted(store, 'a')
        const to = { grantId: 'b', owner: 'b' }
        expect(await store.change(grant, to, never)).toEqual(await store.change(grant, to, never))
      })
    })

    it('a break locks the name for no longer than the ttl', async () => {
      await during(async (store, server) => {
        await granted(store, 'a', { ttl: TTL })
        const { remaining } = await store.break('job', { period: 10 * TTL }, never)
        expect(remaining).toBeLessThanOrEqual(TTL)
        expect(remaining).toBeGreaterThan(TTL / 2)
        await expire(server)
        expect(await store.break('job', { period: TTL }, never)).toEqual({ remaining: 0 })
        await store.release(await granted(store, 'b'), never)
        await expect(store.break('job', {}, never)).rejects.toBeInstanceOf(LeaseConflictError)
      })
    })

    it('the reason of a break ends with the next grant', async () => {
      await during(async (store) => {
        await granted(store, 'a')
        await store.break('job', { period: 0, reason: 'maintenance' }, never)
        expect(await store.read('job', never)).toMatchObject({ metadata: { breakReason: 'maintenance' } })
        await granted(store, 'b')
        expect((await store.read('job', never))?.metadata).toEqual({})
      })
    })

    it('a lease that is being broken is not renewed, and one that was released is not released again', async () => {
      await during(async (store) => {
        const grant = await granted(store, 'a')
        await store.break('job', { period: TTL }, never)
        expect(await store.renew(grant, never)).toMatchObject({ renewed: false, reason: 'broken' })
        expect(await store.release(grant, never)).toEqual({ released: true })
        expect(await store.release(grant, never)).toEqual({ released: false })
        expect(await store.renew(grant, never)).toEqual({ renewed: false, reason: 'expired' })
      })
    })

    it('a lease that has expired is reported as expired, and its last holder does not count as a holder', async () => {
      await during(async (store, server) => {
        const grant = await granted(store, 'a')
        await expire(server)
        expect(await store.read('job', never)).toMatchObject({ state: 'expired', grantId: 'a' })
        const other = { ...grant, grantId: 'b' }
        expect(await store.release(other, never)).toEqual({ released: false })
        expect(await store.renew(other, never)).toEqual({ renewed: false, reason: 'taken' })
      })
    })

    it('a waiter that leaves in the middle is skipped, and later waiters keep their places', async () => {
      await during(async (store, server) => {
        const grant = await granted(store, 'a', { ttl: TTL })
        const ids = Array.from({ length: 130 }, (_, place) => `waiter-${place}`)
        for (const id of ids) await store.acquire(claimOf(id, { queue: true, ttl: TTL }), never)
        await store.withdraw('job', 'waiter-0', never)
        await store.withdraw('job', 'waiter-1', never)
        await store.release(grant, never)
        for (const id of ids.slice(3)) expect(await store.acquire(claimOf(id), never)).toMatchObject({ granted: false })
        const second = await granted(store, 'waiter-2', { ttl: TTL })
        await store.release(second, never)
        await granted(store, 'waiter-3', { ttl: TTL })
        expect(await server.command('HEXISTS', KEY, 'w:waiter-2')).toBe(0)
      })
    })

    it('the first waiter notifies the next one when it leaves while the name is free', async () => {
      await during(async (store) => {
        const grant = await granted(store, 'a', { ttl: TTL })
        for (const id of ['b', 'c']) await store.acquire(claimOf(id, { queue: true, ttl: TTL }), never)
        const limit = new AbortableCall()
        const turn = store.watch('job', limit, 'c').next()
        let isWoken = false
        void turn.then(() => {
          isWoken = true
        })
        await store.release(grant, never)
        await store.withdraw('job', 'b', never)
        await eventually('c is woken', async () => isWoken)
        limit.abort()
      })
    })
  })
})
