import { eventually } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { hasRenewed } from '@leasehold/testing/players'
import { describe, it } from 'vitest'
import { leaderOf, Scene, warmUp } from '../support/scene.js'

describeEtcd('a member is added, and the one that all are connected to is removed:', () => {
  describe.each(['follower', 'leader'] as const)('a %s:', (role) => {
    it('leases and waiters go over to the others', ({ expect }) =>
      Scene.play(async (scene) => {
        const members = await scene.cluster()
        const leader = await leaderOf(members)
        const removed = role === 'leader' ? leader : members.find((member) => member !== leader)
        const [stays] = members.filter((member) => member !== removed)
        if (removed === undefined || stays === undefined) throw new Error('the cluster has too few members')
        await warmUp(removed)
        const [old, fresh] = [await scene.proxy(stays), await scene.proxy(stays)]
        // Nobody can be connected to another member yet.
        old.refuse()
        fresh.refuse()
        const holder = scene.player('holder', scene.store(removed, old, fresh))
        const waiter = scene.player('waiter', scene.store(removed, fresh, old))
        expect(await holder.lease.acquire()).toBe(true)
        const token = holder.lease.fencingToken ?? 0n
        const waiting = waiter.lease.acquire({ wait: Number.POSITIVE_INFINITY })
        await eventually('both stand in line', async () => {
          return (await stays.ctl('get', '--prefix', '--keys-only', 'leasehold/job/')).trim().split(/\s+/).length === 2
        })
        await hasRenewed(holder, 1)

        const added = await stays.addMember('added')
        scene.atEnd(() => added.stop())
        fresh.retarget(added.port)
        old.heal()
        fresh.heal()
        await stays.removeMember(removed)
        await eventually('the removed member has ended', async () => removed.hasEnded)
        await hasRenewed(holder, 3)
        expect(holder.losses).toEqual([])
        expect(holder.lease.fencingToken).toBe(token)
        expect(waiter.lease.checkLease()).toBe(false)
        expect(await holder.lease.release()).toBe(true)
        expect(await waiting).toBe(true)
        expect(waiter.overlaps).toEqual([])
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
      }))
  })
})
