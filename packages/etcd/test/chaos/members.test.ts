import { readLease } from '@leasehold/core'
import type { EtcdLeaseStore } from '@leasehold/etcd'
import { eventually } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { hasRenewed } from '@leasehold/testing/players'
import { passed } from '@leasehold/testing/real-time'
import { describe, it } from 'vitest'
import { leaderOf, Scene, warmUp } from '../support/scene.js'

/** A cluster, a holder and a waiter, each over all members. */
async function begin(scene: Scene) {
  const members = await scene.cluster()
  const leader = await leaderOf(members)
  await warmUp(leader)
  const holder = scene.player('holder', scene.store(...members))
  const waiter = scene.player('waiter', scene.store(...members))
  if (!(await holder.lease.acquire())) throw new Error('the holder was refused')
  const token = holder.lease.fencingToken ?? 0n
  const waiting = waiter.lease.acquire({ wait: Number.POSITIVE_INFINITY })
  return { members, leader, holder, waiter, waiting, token }
}

async function haveQueued(store: EtcdLeaseStore, count: number): Promise<void> {
  await eventually(`${count} in the queue`, async () => (await readLease(store, 'job'))?.waiters === count)
}

/** The ids in the output of `etcdctl lease list`. */
function serverLeases(list: string): readonly string[] {
  return list.split('\n').filter((line) => /^[0-9a-f]{16}$/.test(line))
}

describeEtcd('of three members,', () => {
  describe.concurrent('', () => {
    it('the leader is killed: the holder keeps its lease, and the waiter its place', ({ expect }) =>
      Scene.play(async (scene) => {
        const { leader, holder, waiter, waiting, token } = await begin(scene)
        await leader.kill()
        await hasRenewed(holder, 5)
        expect(holder.losses).toEqual([])
        expect(holder.lease.fencingToken).toBe(token)
        expect(waiter.lease.checkLease()).toBe(false)
        expect(await holder.lease.release()).toBe(true)
        expect(await waiting).toBe(true)
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
      }))

    it('the leader is stopped and continues: the holder keeps its lease', ({ expect }) =>
      Scene.play(async (scene) => {
        const { leader, holder, waiter, waiting } = await begin(scene)
        // The followers wait for it with the keep-alives that they passed on to it, for most of a ttl.
        leader.freeze()
        await hasRenewed(holder, 5)
        leader.thaw()
        await hasRenewed(holder, 8)
        expect(holder.losses).toEqual([])
        expect(waiter.lease.checkLease()).toBe(false)
        await holder.lease.release()
        expect(await waiting).toBe(true)
        expect(waiter.overlaps).toEqual([])
      }))

    it('the leader revokes its leases after an election: the holder keeps its lease, and waiters their places', ({
      expect,
    }) =>
      Scene.play(async (scene) => {
        const { members, leader, holder, waiter, waiting } = await begin(scene)
        const store = scene.store(...members)
        await haveQueued(store, 1)
        const next = scene.player('next', scene.store(...members))
        const last = next.lease.acquire({ wait: Number.POSITIVE_INFINITY })
        await haveQueued(store, 2)
        const before = serverLeases(await leader.ctl('lease', 'list'))
        expect(before.length).toBeGreaterThanOrEqual(3)
        await leader.kill()
        const [other] = members.filter((member) => member !== leader)
        if (other === undefined) throw new Error('the cluster has one member')
        for (const id of before) {
          await eventually('its keys have moved', async () => {
            return !(await other.ctl('lease', 'timetolive', id, '--keys')).includes('/job/')
          })
        }
        // As a leader does that stood still during the election. Some have expired by themselves.
        await Promise.all(before.map((id) => other.ctl('lease', 'revoke', id).catch(() => {})))
        await hasRenewed(holder, 3)
        expect(holder.losses).toEqual([])
        expect(waiter.lease.checkLease()).toBe(false)
        expect(await holder.lease.release()).toBe(true)
        expect(await waiting).toBe(true)
        expect(next.lease.checkLease()).toBe(false)
        await waiter.lease.release()
        expect(await last).toBe(true)
        expect([...waiter.overlaps, ...next.overlaps]).toEqual([])
      }))

    it('a follower is stopped: heartbeats and waiters go over to another member', ({ expect }) =>
      Scene.play(async (scene) => {
        const { members, leader, holder, waiting } = await begin(scene)
        const followers = members.filter((member) => member !== leader)
        for (const follower of followers) {
          follower.freeze()
          await hasRenewed(holder, 5)
          follower.thaw()
          await passed(2_000)
        }
        expect(holder.losses).toEqual([])
        expect(holder.events).not.toContain('lost')
        await holder.lease.release()
        expect(await waiting).toBe(true)
      }))

    it('two are lost: nobody is granted anything, and after their return the waiter is', ({ expect }) =>
      Scene.play(async (scene) => {
        const { members, holder, waiter, waiting, token } = await begin(scene)
        const [one, two] = members
        await Promise.all([one?.kill(), two?.kill()])
        await eventually('the holder has lost its lease', async () => holder.losses.length === 1)
        expect(holder.losses[0]?.reason).toBe('expired')
        expect(waiter.lease.checkLease()).toBe(false)
        await Promise.all([one?.start(), two?.start()])
        expect(await waiting).toBe(true)
        expect(waiter.overlaps).toEqual([])
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
      }))

    it('all begin again: leases go on', ({ expect }) =>
      Scene.play(async (scene) => {
        const { members, holder, waiting, token } = await begin(scene)
        await Promise.all(members.map((member) => member.kill()))
        await Promise.all(members.map((member) => member.start()))
        await hasRenewed(holder, 3)
        expect(holder.losses).toEqual([])
        expect(holder.lease.fencingToken).toBe(token)
        await holder.lease.release()
        expect(await waiting).toBe(true)
      }))

    it('one is not there: a store that asks it first goes to the others', ({ expect }) =>
      Scene.play(async (scene) => {
        const members = await scene.cluster()
        const leader = await leaderOf(members)
        const [gone, ...others] = members.toSorted((one, other) => Number(one === leader) - Number(other === leader))
        if (gone === undefined) throw new Error('the cluster has no members')
        await warmUp(leader)
        await gone.kill()
        const { lease } = scene.player('holder', scene.store(gone, ...others))
        expect(await lease.acquire()).toBe(true)
        expect(await lease.release()).toBe(true)
      }))
  })
})
