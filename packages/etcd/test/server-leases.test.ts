import { randomUUID } from 'node:crypto'
import { eventually } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { passed } from '@leasehold/testing/real-time'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { Scene, warmUp } from './support/scene.js'

const APPLIED = 'etcd_server_proposals_applied_total'

describeEtcd('a server lease that grants share', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
    await warmUp(server)
  })

  afterAll(() => server.stop())

  it('is kept alive without writes to the log of the cluster', ({ expect }) =>
    Scene.play(async (scene) => {
      const store = scene.store(server)
      const names = Array.from({ length: 250 }, () => randomUUID())
      const grants = await Promise.all(names.map((name) => granted(store, randomUUID(), { name })))
      const before = await server.metric(APPLIED)
      for (let count = 0; count < 5; count += 1) {
        const outcomes = await store.renewMany(grants, never)
        expect(outcomes).toEqual(grants.map(() => ({ renewed: true })))
      }
      expect((await server.metric(APPLIED)) - before).toBe(0)
      const keys = await server.ctl('lease', 'list')
      expect(keys).toMatch(/found 1 leases/)
    }))

  describe.concurrent('', () => {
    it('does not keep the key of a grant without heartbeats', ({ expect }) =>
      Scene.play(async (scene) => {
        const [store, other] = [scene.store(server), scene.store(server)]
        const [kept, silent] = [randomUUID(), randomUUID()]
        const grant = await granted(store, randomUUID(), { name: kept, ttl: 4_000 })
        await granted(store, randomUUID(), { name: silent, ttl: 4_000 })
        for (let count = 0; count < 5; count += 1) {
          await passed(1_000)
          expect(await store.renew(grant, never)).toEqual({ renewed: true })
        }
        expect(await other.read(silent, never)).toMatchObject({ state: 'expired' })
        await granted(other, randomUUID(), { name: silent })
        expect((await other.acquire(claimOf(randomUUID(), { name: kept }), never)).granted).toBe(false)
      }))

    it('does not keep the key of a grant whose answer was lost', ({ expect }) =>
      Scene.play(async (scene) => {
        const way = await scene.proxy(server)
        const [store, other] = [scene.store(way), scene.store(server)]
        const [kept, lost] = [randomUUID(), randomUUID()]
        const grant = await granted(store, randomUUID(), { name: kept, ttl: 4_000 })
        way.dropNextResponse()
        const request = claimOf(randomUUID(), { name: lost, ttl: 4_000 })
        await store.acquire(request, never).catch(() => {})
        for (let count = 0; count < 6; count += 1) {
          await passed(1_000)
          await store.renew(grant, never).catch(() => {})
        }
        expect((await other.read(lost, never))?.state ?? 'expired').toBe('expired')
        await granted(other, randomUUID(), { name: lost })
      }))

    it('is replaced when it has expired', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = scene.store(server)
        const name = randomUUID()
        await granted(store, randomUUID(), { name, ttl: 2_000 })
        await eventually('the lease has expired', async () => (await store.read(name, never))?.state === 'expired')
        const grant = await granted(store, randomUUID(), { name, ttl: 2_000 })
        expect(await store.renew(grant, never)).toEqual({ renewed: true })
      }))

    it('that an operator revokes ends its grants: the next heartbeat finds it', ({ expect }) =>
      Scene.play(async (scene) => {
        const own = await scene.server()
        const store = scene.store(own)
        const grant = await granted(store, randomUUID())
        const [, id = ''] = (await own.ctl('lease', 'list')).trim().split('\n')
        await own.ctl('lease', 'revoke', id)
        expect(await store.renew(grant, never)).toEqual({ renewed: false, reason: 'expired' })
        const next = await granted(store, randomUUID())
        expect(next.fencingToken).toBeGreaterThan(grant.fencingToken)
      }))

    it('moves to the store that renews the grant', ({ expect }) =>
      Scene.play(async (scene) => {
        const [one, other] = [scene.store(server), scene.store(server)]
        const name = randomUUID()
        const grant = await granted(one, randomUUID(), { name, ttl: 3_000 })
        expect(await other.renew(grant, never)).toEqual({ renewed: true })
        await one.close()
        for (let count = 0; count < 5; count += 1) {
          await passed(1_000)
          expect(await other.renew(grant, never)).toEqual({ renewed: true })
        }
        expect((await other.read(name, never))?.fencingToken).toBe(grant.fencingToken)
      }))
  })
})
