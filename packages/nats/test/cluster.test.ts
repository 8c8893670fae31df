import { LeaseStoreUnfitError } from '@leasehold/core'
import { describeNats215 } from '@leasehold/testing/describe-nats'
import { claimOf, never } from '@leasehold/testing/job-claims'
import { nats215Program } from '@leasehold/testing/nats-server'
import { hasRenewed } from '@leasehold/testing/players'
import { jetstreamManager } from '@nats-io/jetstream'
import { describe, it } from 'vitest'
import { begin } from './support/cluster.js'
import { Scene } from './support/scene.js'

describeNats215('a cluster of three', () => {
  describe.concurrent('', () => {
    it('gives the bucket three replicas, and refuses one with fewer', ({ expect }) =>
      Scene.play(async (scene) => {
        const servers = await scene.cluster({ program: nats215Program })
        const connection = await scene.connect(servers.map(({ url }) => url))
        const manager = await jetstreamManager(connection)
        const store = scene.store(connection)
        expect((await store.acquire(claimOf('g'), never)).granted).toBe(true)
        expect((await manager.streams.info('KV_leasehold')).config.num_replicas).toBe(3)
        await manager.streams.add({ name: 'KV_one', subjects: ['$KV.one.>'], num_replicas: 1 })
        const refused = scene.store(connection, { bucket: 'one' }).acquire(claimOf('g'), never)
        await expect(refused).rejects.toThrow(LeaseStoreUnfitError)
        await expect(refused).rejects.toThrow("run 'nats stream edit KV_one --replicas=3'")
      }))

    it('that loses the leader of the bucket keeps the lease of the holder, and the waiter waits', ({ expect }) =>
      Scene.play(async (scene) => {
        const { leader, holder, waiter, waiting, token } = await begin(scene, { program: nats215Program })
        await leader.kill()
        await hasRenewed(holder, 3)
        expect(holder.losses).toEqual([])
        expect(waiter.lease.checkLease()).toBe(false)
        expect(await holder.lease.release()).toBe(true)
        expect(await waiting).toBe(true)
        expect(waiter.overlaps).toEqual([])
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
      }))
  })
})
