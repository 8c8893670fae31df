import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { heartbeats } from '@leasehold/testing/players'
import { within } from '@leasehold/testing/real-time'
import type { RedisServer } from '@leasehold/testing/redis-server'
import type { TcpProxy } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { differingLibraries, upstash } from './support/libraries.js'
import { untilInLine } from './support/line.js'
import { Scene, TIMES } from './support/scene.js'

const FOREVER = { wait: Number.POSITIVE_INFINITY }

/** A way through a firewall, which may forget the connections that there are without a word: those of later are new to it. */
async function forgetful(scene: Scene, server: RedisServer): Promise<{ way: TcpProxy; forget(): void }> {
  const wall = await scene.proxy(server)
  const way = await scene.proxy(wall)
  return {
    way,
    forget: () => {
      wall.blackHole()
      way.retarget(server.port)
    },
  }
}

/** Slow for a machine, and less than a call may take. */
const DELAY = 400

describeRedis('the way to a server', () => {
  describe.concurrent.each(differingLibraries)('by $name,', { timeout: 90_000 }, (library) => {
    const { server: clientOf } = library

    it('that is slow delays operations and loses no lease', async () => {
      await Scene.play(async (scene) => {
        const way = await scene.proxy(await scene.server())
        const a = scene.player('a', scene.store(clientOf(way)))
        await a.lease.acquire()
        way.slowDown(DELAY)
        await eventually('it is renewed', async () => heartbeats(a) > 3)
        const start = systemClock.now()
        expect(await a.lease.release()).toBe(true)
        expect(systemClock.now() - start).toBeGreaterThan(DELAY - 50)
        expect(await a.lease.acquire()).toBe(true)
        expect(a.losses).toEqual([])
      })
    })

    it('that goes silent under 30 leases of one connection: Node prints no warning, and the leases recover', async () => {
      await Scene.play(async (scene) => {
        const way = await scene.proxy(await scene.server())
        const store = scene.store(clientOf(way))
        const warnings: string[] = []
        const onWarning = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`)
        process.on('warning', onWarning)
        scene.atEnd(async () => process.off('warning', onWarning))
        // Their time limits end one after the other, each on the connection that is dead already.
        const players = Array.from({ length: 30 }, (_, place) =>
          scene.player(`owner ${place}`, store, { name: `job-${place}`, operationTimeout: 1_000 + place }),
        )
        await Promise.all(players.map(({ lease }) => lease.acquire({ wait: 20_000 })))
        way.blackHole()
        await eventually('all have noticed', async () => players.every(({ events }) => events.includes('jeopardy')))
        way.heal()
        await eventually('all have recovered', async () => players.every(({ events }) => events.includes('recovered')))
        expect(warnings).toEqual([])
        expect(players.flatMap(({ losses }) => losses)).toEqual([])
      })
    })

    it('that is reset repeatedly: the holder keeps the lease, and others are refused', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const [a, b] = [scene.player('a', scene.store(clientOf(way))), scene.player('b', scene.store(clientOf(server)))]
        await a.lease.acquire()
        for (let reset = 0; reset < 10; reset += 1) {
          way.reset()
          await sleep(200)
          expect(await b.lease.acquire()).toBe(false)
        }
        const before = heartbeats(a)
        await eventually('it is renewed', async () => heartbeats(a) > before + 1)
        expect(a.losses).toEqual([])
      })
    })

    it.skipIf(library === upstash)(
      'that goes silent is dropped, and operations continue over another connection',
      async () => {
        await Scene.play(async (scene) => {
          const server = await scene.server()
          const way = await scene.proxy(server)
          const store = scene.store(clientOf(way))
          await store.read('job', never)
          way.blackHole()
          await expect(store.acquire(claimOf('late'), within(800))).rejects.toThrow()
          await expect(store.acquire(claimOf('late'), within(800))).rejects.toThrow()
          way.heal()
          await eventually('it goes on', async () => (await granted(store, 'now', { ttl: 60_000 })).grantId === 'now')
          // A firewall forgets the connection that there is, without a word: those of later come through.
          const forgetting = await forgetful(scene, server)
          const other = scene.store(clientOf(forgetting.way))
          await other.read('job', never)
          forgetting.forget()
          await expect(other.read('job', within(800))).rejects.toThrow()
          expect(await other.read('job', within(10_000))).toMatchObject({ grantId: 'now' })
        })
      },
    )

    it('that loses the first connection while it opens: the next one is used as soon as it is open', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [way, hole] = [await scene.proxy(server), await scene.proxy(server)]
        hole.blackHole()
        way.retarget(hole.port)
        const store = scene.store(clientOf(way))
        await expect(store.read('job', within(800))).rejects.toThrow()
        way.retarget(server.port)
        expect(await store.read('job', within(10_000))).toBeUndefined()
      })
    })

    it('that loses an answer: the acquisition is settled, and the lease is held', async () => {
      await Scene.play(async (scene) => {
        const way = await scene.proxy(await scene.server())
        const store = scene.store(clientOf(way))
        const a = scene.player('a', store)
        // The first claim of a store checks the server before.
        await granted(store, 'first', { name: 'other' })
        way.dropNextResponse()
        expect(await a.lease.acquire()).toBe(true)
        expect(a.lease.checkLease()).toBe(true)
        expect(await store.read('job', never)).toMatchObject({ owner: 'a', fencingToken: a.lease.fencingToken })
        way.dropNextResponse()
        await eventually('a heartbeat was lost', async () => a.events.includes('jeopardy'))
        await eventually('the next was not', async () => a.events.includes('recovered'))
        expect(a.losses).toEqual([])
        way.dropNextResponse()
        expect(await a.lease.release()).toBe(true)
        expect(await store.read('job', never)).toMatchObject({ state: 'available' })
      })
    })

    it('without messages: waiters are served by polling, within a third of the ttl', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const wall = await forgetful(scene, server)
        const [a, b] = [
          scene.player('a', scene.store(clientOf(server))),
          scene.player('b', scene.store(clientOf(wall.way))),
        ]
        await a.lease.acquire()
        const waiting = b.lease.acquire(FOREVER)
        await untilInLine(server, 1)
        // Its connections are dead, both; that for operations is given up and made anew.
        wall.forget()
        await sleep(TIMES.heartbeatTimeout / 2)
        const start = systemClock.now()
        await a.lease.release()
        expect(await waiting).toBe(true)
        const { heartbeatTimeout, operationTimeout } = TIMES
        expect(systemClock.now() - start).toBeLessThan(heartbeatTimeout / 3 + 2 * operationTimeout + 1_000)
        expect(b.overlaps).toEqual([])
      })
    })

    it('that rejects subscriptions at first: waiters get a place as soon as possible', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const way = await scene.proxy(server)
        const [a, b] = [scene.player('a', scene.store(clientOf(server))), scene.player('b', scene.store(clientOf(way)))]
        await a.lease.acquire()
        // There is a connection for operations already: the one for words is opened into the void.
        expect(await b.lease.acquire()).toBe(false)
        const hole = await scene.proxy(server)
        hole.blackHole()
        way.retarget(hole.port)
        const waiting = b.lease.acquire(FOREVER)
        await sleep(2 * TIMES.operationTimeout)
        way.retarget(server.port)
        await untilInLine(server, 1)
        await a.lease.release()
        expect(await waiting).toBe(true)
      })
    })
  })
})
