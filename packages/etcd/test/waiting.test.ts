import { randomUUID } from 'node:crypto'
import { AbortableCall } from '@leasehold/core/store'
import { eventually } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { passed } from '@leasehold/testing/real-time'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { Scene, warmUp } from './support/scene.js'

const wait = Number.POSITIVE_INFINITY

describeEtcd('waiters', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
    await warmUp(server)
  })

  afterAll(() => server.stop())

  const placesOf = async (name: string) =>
    (await server.ctl('get', '--prefix', '--keys-only', `leasehold/${name}/`)).split('\n').filter(Boolean).length

  describe.concurrent('', () => {
    it('are notified one at a time: a release wakes the first in line only', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = scene.store(server)
        const name = randomUUID()
        const holder = await granted(store, randomUUID(), { name })
        const ids = Array.from({ length: 10 }, () => randomUUID())
        const woken: string[] = []
        const call = new AbortableCall()
        for (const grantId of ids) {
          await store.acquire(claimOf(grantId, { name, queue: true }), never)
          void (async () => {
            for await (const _ of store.watch(name, call, grantId)) woken.push(grantId)
          })()
        }
        await passed(1_000)
        expect(woken).toEqual([])
        await store.release(holder, never)
        await eventually('the first is woken', async () => woken.length > 0)
        await passed(500)
        expect(new Set(woken)).toEqual(new Set(ids.slice(0, 1)))
        call.abort()
      }))

    it('of processes that died are passed over after their ttl', ({ expect }) =>
      Scene.play(async (scene) => {
        const [dead, store] = [scene.store(server), scene.store(server)]
        const name = randomUUID()
        const holder = scene.player('holder', store, { name })
        await holder.lease.acquire()
        await dead.acquire(claimOf(randomUUID(), { name, queue: true, ttl: 3_000 }), never)
        await dead.close()
        const last = scene.player('last', store, { name })
        const waiting = last.lease.acquire({ wait })
        await eventually('both stand in line', async () => (await placesOf(name)) === 3)
        await holder.lease.release()
        expect(await waiting).toBe(true)
        expect(await placesOf(name)).toBe(1)
      }))

    it('lose their place after their ttl if they do not repeat their claim, though their process holds leases', ({
      expect,
    }) =>
      Scene.play(async (scene) => {
        const [store, other] = [scene.store(server), scene.store(server)]
        const [kept, name] = [randomUUID(), randomUUID()]
        const grant = await granted(store, randomUUID(), { name: kept, ttl: 4_000 })
        await granted(other, randomUUID(), { name, ttl: 60_000 })
        const waiter = claimOf(randomUUID(), { name, queue: true, ttl: 4_000 })
        for (let count = 0; count < 6; count += 1) {
          await store.acquire(waiter, never)
          expect(await store.renew(grant, never)).toEqual({ renewed: true })
          await passed(1_000)
        }
        expect(await placesOf(name)).toBe(2)
        for (let count = 0; count < 6; count += 1) {
          expect(await store.renew(grant, never)).toEqual({ renewed: true })
          await passed(1_000)
        }
        expect(await placesOf(name)).toBe(1)
      }))

    it('that repeat their claim with another store do not keep the leases of the first one', ({ expect }) =>
      Scene.play(async (scene) => {
        const [dead, store] = [scene.store(server), scene.store(server)]
        const [held, name] = [randomUUID(), randomUUID()]
        await granted(store, randomUUID(), { name, ttl: 60_000 })
        await granted(dead, randomUUID(), { name: held, ttl: 3_000 })
        const waiter = claimOf(randomUUID(), { name, queue: true, ttl: 3_000 })
        await dead.acquire(waiter, never)
        await dead.close()
        for (let count = 0; count < 6; count += 1) {
          await store.acquire(waiter, never)
          await passed(1_000)
        }
        expect(await store.read(held, never)).toMatchObject({ state: 'expired' })
        expect(await placesOf(name)).toBe(2)
      }))

    it('leave the line when they give up', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = scene.store(server)
        const name = randomUUID()
        await scene.player('holder', store, { name }).lease.acquire()
        expect(await scene.player('waiter', store, { name }).lease.acquire({ wait: 1_500 })).toBe(false)
        await eventually('its place is gone', async () => (await placesOf(name)) === 1)
      }))

    it('keep their turn when revisions are compacted, and when the connection breaks', ({ expect }) =>
      Scene.play(async (scene) => {
        const own = await scene.server()
        const way = await scene.proxy(own)
        const [holder, waiter] = [scene.player('holder', scene.store(own)), scene.player('waiter', scene.store(way))]
        await holder.lease.acquire()
        const waiting = waiter.lease.acquire({ wait })
        await passed(1_000)
        way.refuse()
        way.reset()
        for (let count = 0; count < 20; count += 1) await own.ctl('put', 'other', String(count))
        const [status] = JSON.parse(await own.ctl('endpoint', 'status', '-w', 'json'))
        await own.ctl('compact', String(status.Status.header.revision))
        way.heal()
        await holder.lease.release()
        expect(await waiting).toBe(true)
      }))

    it('go over to another member when the stream of their watches is silent', ({ expect }) =>
      Scene.play(async (scene) => {
        const way = await scene.proxy(server)
        const direct = scene.store(server)
        const store = scene.store(way, server)
        const name = randomUUID()
        const holder = await granted(direct, randomUUID(), { name, ttl: 60_000 })
        const waiter = randomUUID()
        await store.acquire(claimOf(waiter, { name, queue: true, ttl: 60_000 }), never)
        const call = new AbortableCall()
        const watching = store.watch(name, call, waiter).next()
        await passed(1_000)
        // No bytes come through any more, and no end of the connection.
        way.blackHole()
        await direct.release(holder, never)
        expect(await watching).toEqual({ done: false, value: undefined })
        expect((await store.acquire(claimOf(waiter, { name, queue: true }), never)).granted).toBe(true)
        call.abort()
      }))
  })
})
