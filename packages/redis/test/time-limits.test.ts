import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseTimeoutError, LeaseUnavailableError, systemClock } from '@leasehold/core'
import type { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { heartbeats, type Player } from '@leasehold/testing/players'
import { within } from '@leasehold/testing/real-time'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { describe, expect, it } from 'vitest'
import { scriptCalls } from './support/command-count.js'
import { differingClusterLibraries, differingLibraries, glide, upstash } from './support/libraries.js'
import { nameOn } from './support/name-on.js'
import { Scene } from './support/scene.js'

/** Of an attempt, in milliseconds. */
const LIMIT = 800

/** Longer than the pauses after which clients repeat, and connect anew, by their defaults. */
const AFTERWARDS = 4_000

/** An attempt whose time limit is over before anything is answered. */
async function inVain(store: RedisLeaseStore, name = 'job', limit = LIMIT): Promise<void> {
  const start = systemClock.now()
  await expect(store.acquire(claimOf('late', { name }), within(limit))).rejects.toThrow()
  // At once or at the limit, and not when a client finds it is time.
  expect(systemClock.now() - start).toBeLessThan(LIMIT + 3_000)
}

/** There are no further requests. */
async function expectSilence(server: RedisServer, calls: number): Promise<void> {
  await sleep(AFTERWARDS)
  expect(await scriptCalls(server)).toBe(calls)
  expect(await server.command('EXISTS', 'leasehold:{job}')).toBe(0)
}

describeRedis('a command does not outlive the time limit of its attempt,', () => {
  describe.concurrent.each(differingLibraries)(
    'by $name, whose defaults are to queue and to repeat,',
    { timeout: 60_000 },
    (library) => {
      const { server: clientOf } = library

      it('if the server is down', async () => {
        await Scene.play(async (scene) => {
          const server = await scene.server()
          const [fresh, used] = [scene.store(clientOf(server)), scene.store(clientOf(server))]
          await used.read('job', never)
          await server.kill()
          await Promise.all([inVain(fresh), inVain(used)])
          await server.restart()
          await expectSilence(server, 0)
          await granted(fresh, 'now')
          await granted(used, 'now')
        })
      })

      // A request over HTTP is under way when the server behind the front hangs.
      it.skipIf(library === upstash)('if the server hangs before the first connection', async () => {
        await Scene.play(async (scene) => {
          const server = await scene.server()
          const store = scene.store(clientOf(server))
          server.freeze()
          await inVain(store)
          await inVain(store)
          // The connection that this one asks for is still being made when the server goes on.
          await inVain(store, 'job', LIMIT / 8)
          server.thaw()
          await expectSilence(server, 0)
          await granted(store, 'now')
        })
      })

      it('if the network is cut, and works again later', async () => {
        await Scene.play(async (scene) => {
          const server = await scene.server()
          const way = await scene.proxy(server)
          const [fresh, used] = [scene.store(clientOf(way)), scene.store(clientOf(way))]
          await used.read('job', never)
          const before = await scriptCalls(server)
          way.blackHole()
          await Promise.all([inVain(fresh), inVain(used)])
          way.heal()
          await expectSilence(server, before)
          await granted(fresh, 'now')
          await granted(used, 'now')
        })
      })

      it('except for a request that a frozen server had received, which is taken back', async () => {
        await Scene.play(async (scene) => {
          const server = await scene.server()
          const store = scene.store(clientOf(server))
          await store.read('job', never)
          const times = { heartbeatTimeout: 60_000, heartbeatInterval: 5_000, operationTimeout: LIMIT }
          const [a, b] = [scene.player('a', store, times), scene.player('b', scene.store(clientOf(server)), times)]
          server.freeze()
          const start = systemClock.now()
          const error: unknown = await a.lease.acquire().catch((reason: unknown) => reason)
          expect(error).toSatisfy((e) => e instanceof LeaseTimeoutError || e instanceof LeaseUnavailableError)
          server.thaw()
          await eventually('the name is free', async () => b.lease.checkLease() || (await b.lease.acquire()))
          // Long before the ttl is over.
          expect(systemClock.now() - start).toBeLessThan(30_000)
          expect(a.lease.checkLease()).toBe(false)
          expect(b.overlaps).toEqual([])
        })
      })
    },
  )
})

/** A cluster goes on where a node of it does not answer. */
const PARTIAL = ['--cluster-require-full-coverage', 'no']

describeRedis('a node of a cluster that hangs,', () => {
  describe.concurrent.each(differingClusterLibraries)('by $name,', { timeout: 120_000 }, (library) => {
    // GLIDE makes no new client of a cluster while one of the nodes hangs.
    it.skipIf(library === glide)('does not delay requests to other nodes, and is not sent later', async () => {
      await Scene.play(async (scene) => {
        const cluster = await scene.cluster(PARTIAL)
        const [hung, ...others] = cluster.nodes
        if (hung === undefined) throw new Error('no node')
        const names = await Promise.all(
          [0, 1, 2, 3].map((n) => Promise.all(others.map((node) => nameOn(cluster, node, n)))),
        )
        const lost = await nameOn(cluster, hung)
        hung.freeze()
        // Several, because the first node to be asked for the slots is random.
        const stores = Array.from({ length: 4 }, () => scene.store(library.cluster(cluster.nodes)))
        const asked = stores.map(async (store, number) => {
          let isOver = false
          const late = inVain(store, lost).finally(() => {
            isOver = true
          })
          const start = systemClock.now()
          for (const name of names[number] ?? []) {
            await eventually(`${name} is granted`, async () => {
              return (await store.acquire(claimOf(`x${number}`, { name }), within(5_000))).granted
            })
          }
          // It is not for want of other answers that the connection is given up.
          while (!isOver) await store.read(names[number]?.[0] ?? '', never)
          await late
          return systemClock.now() - start
        })
        expect(Math.max(...(await Promise.all(asked)))).toBeLessThan(20_000)
        hung.thaw()
        await sleep(AFTERWARDS)
        expect(await scriptCalls(hung)).toBe(0)
        await eventually('it serves again', async () => {
          return (await granted(stores[0] as RedisLeaseStore, 'now', { name: lost })).grantId === 'now'
        })
      })
    })

    it('loses no heartbeat of leases at the other nodes, and recovers its own leases', async () => {
      await Scene.play(async (scene) => {
        const cluster = await scene.cluster(PARTIAL)
        const [hung, ...others] = cluster.nodes
        if (hung === undefined) throw new Error('no node')
        const store = scene.store(library.cluster(cluster.nodes))
        const times = { heartbeatTimeout: 30_000, heartbeatInterval: 1_000, operationTimeout: 1_500 }
        const play = async (node: RedisServer): Promise<Player> => {
          return scene.player('a', store, { ...times, name: await nameOn(cluster, node) })
        }
        const own = await play(hung)
        const rest = await Promise.all(others.map(play))
        for (const { lease } of [own, ...rest]) await lease.acquire({ wait: 20_000 })
        hung.freeze()
        await eventually('it is noticed', async () => own.events.includes('jeopardy'))
        const before = rest.map(heartbeats)
        await sleep(6_000)
        for (const [place, player] of rest.entries()) {
          expect(player.troubles).toEqual([])
          expect(heartbeats(player)).toBeGreaterThan((before[place] ?? 0) + 2)
        }
        hung.thaw()
        await eventually('its lease is kept', async () => own.events.includes('recovered'))
        expect(own.losses).toEqual([])
      })
    })
  })
})
