import { eventually } from '@leasehold/testing'
import type { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { never } from '@leasehold/testing/job-claims'
import { hasRenewed } from '@leasehold/testing/players'
import { describe, expect, it } from 'vitest'
import { destroySession, FOREVER, lost, Scene, sessionOf, TIMES } from './support/scene.js'

const TTL = TIMES.heartbeatTimeout

/** A holder that is cut off from Consul: it cannot notice that its session ends. Resolves when it has been granted. */
async function cutOffHolder(scene: Scene, server: ConsulServer, lockDelay?: number) {
  const way = await scene.proxy(server)
  const holder = scene.player('holder', scene.store([way], { lockDelay }))
  expect(await holder.lease.acquire()).toBe(true)
  await hasRenewed(holder)
  way.blackHole()
  return holder
}

describeConsul('a session that ends while its holder counts on it:', () => {
  describe.concurrent('nobody is granted the name while the holder is valid', { timeout: 90_000 }, () => {
    it('after an operator has destroyed the session', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = await cutOffHolder(scene, server)
        const next = scene.player('next', scene.store([server]))
        const waiting = next.lease.acquire(FOREVER)
        await destroySession(server, await sessionOf(server))
        expect(holder.lease.checkLease()).toBe(true)
        expect(await waiting).toBe(true)
        expect(next.overlaps).toEqual([])
        expect(holder.lease.checkLease()).toBe(false)
      })
    })

    it('after a health check has ended it', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const check = JSON.stringify({ Name: 'app', ID: 'app', TTL: '1h', Status: 'passing' })
        await server.request('PUT', '/agent/check/register', { body: check })
        const way = await scene.proxy(server)
        const holder = scene.player('holder', scene.store([way], { nodeChecks: ['app'] }))
        expect(await holder.lease.acquire()).toBe(true)
        await hasRenewed(holder)
        way.blackHole()
        const next = scene.player('next', scene.store([server]))
        const waiting = next.lease.acquire(FOREVER)
        await server.request('PUT', '/agent/check/fail/app')
        await eventually('the session has ended', async () => (await sessionOf(server)) === undefined)
        expect(holder.lease.checkLease()).toBe(true)
        expect(await waiting).toBe(true)
        expect(next.overlaps).toEqual([])
      })
    })

    it('after the node of its agent has left the cluster', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const agent = await scene.agent('client', server)
        const holder = await cutOffHolder(scene, agent)
        const next = scene.player('next', scene.store([server]))
        const waiting = next.lease.acquire(FOREVER)
        await agent.command('leave')
        await eventually('the session has ended', async () => (await sessionOf(server)) === undefined)
        expect(holder.lease.checkLease()).toBe(true)
        expect(await waiting).toBe(true)
        expect(next.overlaps).toEqual([])
      })
    })

    it('but with lockDelay 0 another owner is granted the name at once: why the default is the ttl', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = await cutOffHolder(scene, server, 0)
        await destroySession(server, await sessionOf(server))
        const next = scene.player('next', scene.store([server], { lockDelay: 0 }))
        expect(await next.lease.acquire()).toBe(true)
        expect(holder.lease.checkLease()).toBe(true)
        expect(next.overlaps).toEqual(['holder'])
      })
    })
  })

  describe.concurrent('the holder', { timeout: 90_000 }, () => {
    it('is notified by its next heartbeat, and is granted the lease again, under a new session', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = scene.player('holder', scene.store([server]))
        await holder.lease.acquire()
        const token = holder.lease.fencingToken ?? 0n
        await destroySession(server, await sessionOf(server))
        await lost(holder, 'expired')
        expect(await holder.lease.acquire({ wait: 3 * TTL })).toBe(true)
        expect(holder.lease.fencingToken).toBeGreaterThan(token)
      })
    })

    it('keeps the lease when the agent is killed, if another address answers', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const agent = await scene.agent('client', server)
        const holder = scene.player('holder', scene.store([agent, server]))
        await holder.lease.acquire()
        await agent.kill()
        await hasRenewed(holder, 15)
        expect(holder.losses).toEqual([])
      })
    })

    it('keeps the other leases of its session when one of them is deleted', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store([server])
        const [one, other] = [scene.player('one', store), scene.player('other', store, { name: 'other' })]
        await one.lease.acquire()
        await other.lease.acquire()
        expect(await sessionOf(server, 'leasehold/other')).toBe(await sessionOf(server))
        await server.request('DELETE', '/kv/leasehold/job')
        await lost(one, 'deleted')
        await hasRenewed(other)
        expect(other.losses).toEqual([])
      })
    })
  })

  it('beyond the longest lock-delay, a challenger waits until it has seen the name without a session for a ttl', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const holder = scene.player('holder', scene.store([server]), {
        heartbeatTimeout: 120_000,
        heartbeatInterval: 30_000,
      })
      await holder.lease.acquire()
      await destroySession(server, await sessionOf(server))
      const challenger = scene.store([server])
      const grantId = '1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed'

      const outcome = await challenger.acquire({ name: 'job', owner: 'next', grantId, ttl: TTL }, never)
      expect(outcome).toMatchObject({ granted: false, holder: { owner: 'holder', state: 'leased' } })
      expect(outcome.granted === false && outcome.holder?.remaining).toBeGreaterThan(110_000)
    })
  })
})
