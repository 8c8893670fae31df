import { setTimeout as sleep } from 'node:timers/promises'
import { ConsulGuard } from '@leasehold/consul'
import { eventually } from '@leasehold/testing'
import type { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { hasRenewed, type Player } from '@leasehold/testing/players'
import { describe, expect, it } from 'vitest'
import { FOREVER, lost, Scene, TIMES } from '../support/scene.js'

const TTL = TIMES.heartbeatTimeout

/** The leader, and the other servers. */
async function rolesOf(servers: readonly ConsulServer[]): Promise<{ leader: ConsulServer; others: ConsulServer[] }> {
  const address = await servers[0]?.request('GET', '/status/leader')
  const leader = servers.find(({ raftAddress }) => raftAddress === address)
  if (leader === undefined) throw new Error(`no server has the address ${address}`)
  return { leader, others: servers.filter((server) => server !== leader) }
}

/** A holder and a waiter, each over all servers, in another order. */
async function contend(scene: Scene, servers: readonly ConsulServer[]): Promise<{ holder: Player; waiter: Player }> {
  const holder = scene.player('holder', scene.store(servers))
  const waiter = scene.player('waiter', scene.store([...servers].reverse()))
  expect(await holder.lease.acquire()).toBe(true)
  await hasRenewed(holder)
  return { holder, waiter }
}

describeConsul('three servers', () => {
  describe.concurrent('whose', { timeout: 240_000 }, () => {
    it('leader is killed: the holder keeps the lease, and hands it over in order', async () => {
      await Scene.play(async (scene) => {
        const servers = await scene.cluster()
        const { leader } = await rolesOf(servers)
        const { holder, waiter } = await contend(scene, servers)
        const waiting = waiter.lease.acquire(FOREVER)
        await leader.kill()
        await hasRenewed(holder, 5)
        expect(holder.losses).toEqual([])
        const token = holder.lease.fencingToken ?? 0n
        await holder.lease.release()
        expect(await waiting).toBe(true)
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
        expect(waiter.overlaps).toEqual([])
      })
    })

    it('leader is stopped and continued: it confirms nothing as the old leader', async () => {
      await Scene.play(async (scene) => {
        const servers = await scene.cluster()
        const { leader, others } = await rolesOf(servers)
        // It knows the old leader only.
        const holder = scene.player('holder', scene.store([leader]))
        await holder.lease.acquire()
        await hasRenewed(holder)
        const waiter = scene.player('waiter', scene.store(others))
        const waiting = waiter.lease.acquire(FOREVER)
        const token = holder.lease.fencingToken ?? 0n
        leader.freeze()
        await lost(holder, 'expired')
        expect(await waiting).toBe(true)
        // Requests that wait at the old leader are answered by it at once.
        const again = holder.lease.acquire().catch(() => false)
        leader.thaw()
        expect(await again).toBe(false)
        expect(holder.lease.checkLease()).toBe(false)
        expect(waiter.overlaps).toEqual([])
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
        await hasRenewed(waiter, 2)
        const guard = new ConsulGuard({ addresses: servers.map(({ url }) => url) })
        await guard.write('ledger', waiter.lease.fencingToken ?? 0n, 'by the waiter')
        await expect(guard.write('ledger', token, 'late')).rejects.toMatchObject({ code: 'lost' })
        await guard.close()
      })
    })

    it('follower is killed: nobody notices', async () => {
      await Scene.play(async (scene) => {
        const servers = await scene.cluster()
        const { others } = await rolesOf(servers)
        const { holder } = await contend(scene, servers)
        await others[0]?.kill()
        await hasRenewed(holder, 8)
        expect(holder.losses).toEqual([])
      })
    })

    it('quorum is lost and returns: the lease ends in time, and is granted again', async () => {
      await Scene.play(async (scene) => {
        const servers = await scene.cluster()
        const { others } = await rolesOf(servers)
        const { holder, waiter } = await contend(scene, servers)
        const token = holder.lease.fencingToken ?? 0n
        for (const other of others) other.freeze()
        const waiting = waiter.lease.acquire(FOREVER)
        await lost(holder, 'expired')
        await sleep(TTL / 2)
        expect(waiter.lease.checkLease()).toBe(false)
        for (const other of others) other.thaw()
        expect(await waiting).toBe(true)
        expect(waiter.overlaps).toEqual([])
        expect(waiter.lease.fencingToken).toBeGreaterThan(token)
      })
    })

    it('members are killed one after the other while leases change hands: at most one holder at any time', async () => {
      await Scene.play(async (scene) => {
        const servers = await scene.cluster()
        const players = servers.map((server, place) =>
          scene.player(`owner-${place}`, scene.store([server, ...servers.filter((other) => other !== server)])),
        )
        const tokens: bigint[] = []
        let isOver = false
        const turns = players.map(async ({ lease }) => {
          while (!isOver) {
            const isGranted = await lease.acquire({ wait: 2 * TTL }).catch(() => false)
            if (!isGranted) continue
            tokens.push(lease.fencingToken ?? 0n)
            await sleep(300)
            await lease.release().catch(() => {})
          }
        })
        for (const server of servers) {
          await server.kill()
          await sleep(TTL)
          await server.restart()
          await eventually('a lease has changed hands', async () => tokens.length > 1)
        }
        isOver = true
        await Promise.all(turns)
        expect(players.flatMap(({ overlaps }) => overlaps)).toEqual([])
        expect(tokens).toEqual([...new Set(tokens)].sort((one, other) => (one < other ? -1 : 1)))
        expect(tokens.length).toBeGreaterThan(5)
      })
    })
  })
})
