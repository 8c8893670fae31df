import { eventually } from '@leasehold/testing'
import { describeNats } from '@leasehold/testing/describe-nats'
import { hasRenewed } from '@leasehold/testing/players'
import { passed } from '@leasehold/testing/real-time'
import { describe, it } from 'vitest'
import { begin } from '../support/cluster.js'
import { Scene } from '../support/scene.js'

describeNats('of three servers,', () => {
  describe('', () => {
    it('the leader is killed: the holder keeps its lease, and the waiter gets the next', ({ expect }) =>
      Scene.play(async (scene) => {
        const { leader, holder, waiter, waiting, token } = await begin(scene)
        await leader.kill()
        await hasRenewed(holder, 5)
        expect(holder.losses).toEqual([])
        expect(holder.lease.fencingToken).toBe(token)
        await leader.start()
        await hasRenewed(holder, 3)
        expect(waiter.lease.checkLease()).toBe(false)
        expect(await holder.lease.release()).toBe(true)
        expect(await waiting).toBe(true)
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
        expect(waiter.overlaps).toEqual([])
      }))

    it('the leader is stopped and continues: nobody holds the lease twice', ({ expect }) =>
      Scene.play(async (scene) => {
        const { leader, holder, waiter, waiting, token } = await begin(scene)
        leader.freeze()
        await passed(20_000)
        leader.thaw()
        await passed(5_000)
        expect([...holder.overlaps, ...waiter.overlaps]).toEqual([])
        expect(holder.lease.checkLease() && waiter.lease.checkLease()).toBe(false)
        if (holder.lease.checkLease()) await holder.lease.release()
        expect(await waiting).toBe(true)
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
        expect(waiter.overlaps).toEqual([])
      }))

    it('two are lost: nobody is granted anything, and after their return the waiter is', ({ expect }) =>
      Scene.play(async (scene) => {
        const { servers, holder, waiter, waiting, token } = await begin(scene)
        const [one, two] = servers
        await Promise.all([one?.kill(), two?.kill()])
        await eventually('the holder has lost its lease', async () => holder.losses.length === 1)
        expect(holder.losses[0]?.reason).toBe('expired')
        expect(waiter.lease.checkLease()).toBe(false)
        await Promise.all([one?.start(), two?.start()])
        expect(await waiting).toBe(true)
        expect(waiter.overlaps).toEqual([])
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
      }))

    it('all begin again: the lease goes on', ({ expect }) =>
      Scene.play(async (scene) => {
        const { servers, holder, waiting, token } = await begin(scene)
        await Promise.all(servers.map((server) => server.kill()))
        await Promise.all(servers.map((server) => server.start()))
        await hasRenewed(holder, 3)
        expect(holder.losses).toEqual([])
        expect(holder.lease.fencingToken).toBe(token)
        await holder.lease.release()
        expect(await waiting).toBe(true)
      }))
  })
})
