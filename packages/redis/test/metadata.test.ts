import { LeaseConfigurationError, type Metadata } from '@leasehold/core'
import type { RedisLeaseStore } from '@leasehold/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { Scene } from './support/scene.js'

async function during(test: (store: RedisLeaseStore, server: RedisServer) => Promise<void>): Promise<void> {
  await Scene.play(async (scene) => {
    const server = await scene.server()
    await test(scene.store(new Redis(server.port, { lazyConnect: true })), server)
  })
}

async function previousOf(store: RedisLeaseStore, grantId: string, metadata?: Metadata): Promise<Metadata | undefined> {
  const outcome = await store.acquire(claimOf(grantId, metadata === undefined ? {} : { metadata }), never)
  if (!outcome.granted) throw new Error('not granted')
  return outcome.previous
}

describeRedis('the metadata of a lease', () => {
  describe.concurrent('in the script', { timeout: 60_000 }, () => {
    it('is returned to the next holder, also when it repeats its claim, and stays in the record', async () => {
      await during(async (store) => {
        expect(await previousOf(store, 'a', { step: '1' })).toBeUndefined()
        expect(await previousOf(store, 'a')).toBeUndefined()
        expect(await store.read('job', never)).not.toHaveProperty('previous')
        await store.release({ ...claimOf('a'), fencingToken: 0n }, never)
        for (let repetition = 0; repetition < 3; repetition += 1) {
          expect(await previousOf(store, 'b', { step: '2' })).toEqual({ step: '1' })
        }
        expect(await store.read('job', never)).toMatchObject({ previous: { step: '1' }, metadata: { step: '2' } })
        await store.release({ ...claimOf('b'), fencingToken: 0n }, never)
        expect(await store.read('job', never)).not.toHaveProperty('previous')
        expect(await previousOf(store, 'c')).toEqual({ step: '2' })
        await store.release({ ...claimOf('c'), fencingToken: 0n }, never)
        expect(await previousOf(store, 'd')).toEqual({ step: '2' })
        expect(await store.read('job', never)).toMatchObject({ previous: { step: '2' }, metadata: { step: '2' } })
      })
    })

    it('after a break includes its reason, with line breaks', async () => {
      await during(async (store) => {
        await granted(store, 'a', { metadata: { step: '1\n2' } })
        await store.break('job', { period: 0, reason: 'by hand\nat night' }, never)
        const left = { step: '1\n2', breakReason: 'by hand\nat night' }
        expect(await previousOf(store, 'b')).toEqual(left)
        const record = await store.read('job', never)
        expect([record?.previous, record?.metadata]).toEqual([left, { step: '1\n2' }])
      })
    })

    it('of a release replaces the reason of a break', async () => {
      await during(async (store) => {
        const grant = await granted(store, 'a', { metadata: { step: '1' } })
        await store.break('job', { period: 0, reason: 'by hand' }, never)
        expect(await store.release(grant, never, { step: 'last' })).toEqual({ released: true })
        expect(await store.read('job', never)).toMatchObject({ state: 'available', metadata: { step: 'last' } })
        expect(await store.release(grant, never, { step: 'too late' })).toEqual({ released: false })
        expect(await previousOf(store, 'b')).toEqual({ step: 'last' })
      })
    })

    it('is replaced by an update, which renews the lease and depends on the grant', async () => {
      await during(async (store) => {
        await store.release(await granted(store, 'a', { metadata: { step: '1' } }), never)
        const grant = await granted(store, 'b', { ttl: 60_000 })
        expect(await store.update(grant, { step: '2' }, never)).toEqual({ renewed: true })
        expect(await store.read('job', never)).toMatchObject({ metadata: { step: '2' }, previous: { step: '1' } })
        const passed = await store.change(grant, { grantId: 'c', owner: 'c' }, never)
        expect(passed).toMatchObject({ granted: true, previous: { step: '2' } })
        expect(await store.change(grant, { grantId: 'c', owner: 'c' }, never)).toEqual(passed)
        expect(await store.update(grant, { step: '3' }, never)).toMatchObject({ renewed: false, reason: 'taken' })
        expect(await store.read('job', never)).toMatchObject({ owner: 'c', metadata: { step: '2' } })
        expect(await store.update({ ...grant, name: 'none' }, {}, never)).toEqual({ renewed: false, reason: 'deleted' })
      })
    })

    it('is limited in claims, updates and releases', async () => {
      await during(async (store) => {
        const grant = await granted(store, 'a')
        const large = { text: 'x'.repeat(4_096) }
        const attempts = [
          store.acquire(claimOf('b', { metadata: large }), never),
          store.update(grant, large, never),
          store.release(grant, never, large),
        ]
        for (const attempt of attempts) await expect(attempt).rejects.toBeInstanceOf(LeaseConfigurationError)
        expect(await store.read('job', never)).toMatchObject({ state: 'leased', metadata: {} })
      })
    })
  })
})
