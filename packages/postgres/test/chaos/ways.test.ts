import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { heartbeats } from '@leasehold/testing/players'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { within } from '@leasehold/testing/real-time'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FOREVER, Scene, TIMES } from '../support/scene.js'

/** Slow for a machine, and less than a call may take. */
const DELAY = 400

describePostgres('the network to a server', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start()
  })

  afterAll(() => server?.stop())

  const play = (act: (scene: Scene) => Promise<void>): Promise<void> => Scene.play(act, server)

  describe.concurrent('', { timeout: 90_000 }, () => {
    it('that is slow delays operations and loses no lease', async () => {
      await play(async (scene) => {
        const way = await scene.proxy(server)
        const a = scene.player('a', scene.store(way))
        await a.lease.acquire()
        way.slowDown(DELAY)
        await eventually('it is renewed', async () => heartbeats(a) > 3)
        const start = systemClock.now()
        expect(await a.lease.release()).toBe(true)
        expect(systemClock.now() - start).toBeGreaterThan(DELAY - 50)
        way.heal()
        expect(await a.lease.acquire()).toBe(true)
        expect(a.losses).toEqual([])
      })
    })

    it('that resets connections repeatedly: the holder keeps the lease, and others are refused', async () => {
      await play(async (scene) => {
        const way = await scene.proxy(server)
        const [a, b] = [scene.player('a', scene.store(way)), scene.player('b', scene.store(server))]
        await a.lease.acquire()
        for (let reset = 0; reset < 6; reset += 1) {
          way.reset()
          expect(await b.lease.acquire()).toBe(false)
          const before = heartbeats(a)
          await eventually('it is renewed', async () => heartbeats(a) > before)
        }
        expect(a.losses).toEqual([])
      })
    })

    it('that goes silent is given up, and operations continue over other connections', async () => {
      await play(async (scene) => {
        const way = await scene.proxy(server)
        const store = scene.store(way)
        await store.read('job', never)
        way.blackHole()
        await expect(store.acquire(claimOf('late'), within(800))).rejects.toThrow()
        await expect(store.acquire(claimOf('late'), within(800))).rejects.toThrow()
        way.heal()
        await eventually('it goes on', async () => {
          return (await store.acquire(claimOf('now', { ttl: 60_000 }), within(5_000))).granted
        })
      })
    })

    it('that goes silent under 30 leases of one pool: they recover, and the pool is whole again', async () => {
      await play(async (scene) => {
        const way = await scene.proxy(server)
        const pool = scene.pool(way, { max: 5 })
        const store = scene.store(pool)
        const warnings: string[] = []
        const onWarning = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`)
        process.on('warning', onWarning)
        scene.atEnd(async () => process.off('warning', onWarning))
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
        const all = await Promise.all(Array.from({ length: 5 }, () => pool.query('SELECT pg_sleep(0.1)')))
        expect(all.length).toBe(5)
      })
    })

    it('that loses an answer: the acquisition, the heartbeat and the release are settled', async () => {
      await play(async (scene) => {
        const way = await scene.proxy(server)
        const store = scene.store(way)
        const a = scene.player('a', store)
        await store.read('job', never)
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

    it('that loses every answer: the holder stops in time, and the name is free a ttl later', async () => {
      await play(async (scene) => {
        const way = await scene.proxy(server)
        const [a, b] = [scene.player('a', scene.store(way)), scene.player('b', scene.store(server))]
        await a.lease.acquire()
        const token = a.lease.fencingToken ?? 0n
        const waiting = b.lease.acquire(FOREVER)
        // The server renews as long as the requests arrive; the holder cannot know it.
        way.dropResponses()
        await eventually('it is lost', async () => a.losses.length > 0)
        expect(await waiting).toBe(true)
        expect(b.overlaps).toEqual([])
        expect(b.lease.fencingToken).toBeGreaterThan(token)
      })
    })

    it('without notifications: waiters are served by polling, within a third of the ttl', async () => {
      await play(async (scene) => {
        const [far, way] = [await scene.proxy(server), await scene.proxy(server)]
        const [a, b] = [scene.player('a', scene.store(server)), scene.player('b', scene.store(way))]
        await a.lease.acquire()
        // The connections that there are lead to a place that will be silent; those of later do not.
        way.retarget(far.port)
        way.reset()
        const waiting = b.lease.acquire(FOREVER)
        await sleep(TIMES.operationTimeout)
        far.blackHole()
        way.retarget(server.port)
        await sleep(TIMES.heartbeatTimeout / 2)
        const start = systemClock.now()
        await a.lease.release()
        expect(await waiting).toBe(true)
        const { heartbeatTimeout, operationTimeout } = TIMES
        expect(systemClock.now() - start).toBeLessThan(heartbeatTimeout / 3 + 2 * operationTimeout + 1_000)
        expect(b.overlaps).toEqual([])
      })
    })

    it('that refuses connections: acquire rejects with a typed error, and goes on as soon as it can', async () => {
      await play(async (scene) => {
        const way = await scene.proxy(server)
        const store = scene.store(way)
        way.refuse()
        await expect(store.acquire(claimOf('a'), within(2_000))).rejects.toMatchObject({ code: 'unavailable' })
        way.heal()
        expect((await granted(store, 'a')).fencingToken).toBeGreaterThan(0n)
      })
    })
  })
})
