import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { heartbeats, type Player } from '@leasehold/testing/players'
import { describe, expect, it } from 'vitest'
import { differingLibraries } from './support/libraries.js'
import { untilInLine } from './support/line.js'
import { Scene, TIMES } from './support/scene.js'

const FOREVER = { wait: Number.POSITIVE_INFINITY }
const TTL = TIMES.heartbeatTimeout

/** It was lost once, for that reason. */
async function expectLost({ lease, losses }: Player, reason: string): Promise<void> {
  await eventually(`it is lost: ${reason}`, async () => losses.length > 0)
  expect(lease.checkLease()).toBe(false)
  await sleep(TIMES.heartbeatInterval)
  expect(losses.map((lost) => lost.reason)).toEqual([reason])
}

describeRedis('a server', () => {
  describe.concurrent.each(differingLibraries)('by $name,', { timeout: 90_000 }, ({ server: clientOf }) => {
    it('that is killed and starts without data: the holder is notified, and tokens keep growing', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const a = scene.player('a', scene.store(clientOf(server)))
        await a.lease.acquire()
        const token = a.lease.fencingToken ?? 0n
        await server.restart()
        await expectLost(a, 'deleted')
        expect(await a.lease.acquire()).toBe(true)
        expect(a.lease.fencingToken).toBeGreaterThan(token)
      })
    })

    it('that is frozen for less than the ttl: the holder keeps the lease and its token', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const a = scene.player('a', scene.store(clientOf(server)))
        await a.lease.acquire()
        const token = a.lease.fencingToken
        server.freeze()
        await eventually('it is noticed', async () => a.events.includes('jeopardy'))
        expect(a.lease.checkLease()).toBe(true)
        server.thaw()
        await eventually('it is over', async () => a.events.includes('recovered'))
        expect(a.losses).toEqual([])
        expect(a.lease.fencingToken).toBe(token)
      })
    })

    it('that is frozen for longer: the holder stops before another owner is granted', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [a, b] = [
          scene.player('a', scene.store(clientOf(server))),
          scene.player('b', scene.store(clientOf(server))),
        ]
        await a.lease.acquire()
        const token = a.lease.fencingToken ?? 0n
        const waiting = b.lease.acquire(FOREVER)
        await eventually('a has renewed', async () => heartbeats(a) > 0)
        server.freeze()
        await sleep(TTL + 500)
        expect(a.lease.checkLease()).toBe(false)
        expect(b.lease.checkLease()).toBe(false)
        server.thaw()
        expect(await waiting).toBe(true)
        expect(b.overlaps).toEqual([])
        expect(b.lease.fencingToken).toBeGreaterThan(token)
        await expectLost(a, 'expired')
        expect(b.losses).toEqual([])
      })
    })

    it('that is flushed: the next token is larger than all before', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store(clientOf(server))
        // The first claim of a store checks the server before.
        await granted(store, 'first', { name: 'other' })
        for (let round = 0; round < 20; round += 1) {
          // As many grants of one name as a call of the script can hold: far more than one a millisecond.
          const calls = Array.from({ length: 100 }, async (_, place) => {
            const acquired = granted(store, `${place}`)
            const freed = store.release({ ...claimOf(`${place}`), fencingToken: 0n }, never)
            await freed
            return (await acquired).fencingToken
          })
          const tokens = await Promise.all(calls)
          await server.command('FLUSHALL')
          const next = await granted(store, 'next')
          expect(tokens.filter((token) => token >= next.fencingToken)).toEqual([])
          await store.release(next, never)
        }
      })
    })

    it('whose clock is set back: tokens keep growing', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store(clientOf(server))
        let last = await granted(store, 'a')
        // The token of a clock that was an hour ahead.
        const ahead = last.fencingToken + 3_600_000_000n
        const lease = String(await server.command('HGET', 'leasehold:{job}', 'lease'))
        await server.command('HSET', 'leasehold:{job}', 'lease', lease.slice(0, 27) + ahead + lease.slice(43))
        for (const id of ['b', 'c']) {
          await store.release(last, never)
          last = await granted(store, id)
          expect(last.fencingToken).toBeGreaterThan(ahead)
        }
        expect(last.fencingToken).toBe(ahead + 2n)
      })
    })

    it('keeps the key of a lease for its record life after the lease has ended', async () => {
      await Scene.play(async (scene) => {
        const [server, ttl, recordLife] = [await scene.server(), 10_000, 1_000]
        const store = scene.store(clientOf(server), { recordLife })
        const expectKept = async (ask: () => Promise<unknown>): Promise<void> => {
          const start = systemClock.now()
          await ask()
          const left = Number(await server.command('PTTL', 'leasehold:{job}'))
          expect(left).toBeGreaterThanOrEqual(ttl + recordLife - (systemClock.now() - start))
        }
        const grant = await granted(store, 'a', { ttl })
        await sleep(recordLife)
        await expectKept(() => store.renew(grant, never))
        await store.release(grant, never)
        await sleep(recordLife)
        await expectKept(() => granted(store, 'b', { ttl }))
      })
    })

    it('that pauses its clients: a short pause costs nothing, a long one loses the lease in time', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const a = scene.player('a', scene.store(clientOf(server)))
        await a.lease.acquire()
        await server.command('CLIENT', 'PAUSE', TTL / 3, 'ALL')
        await sleep(TTL / 3)
        const before = heartbeats(a)
        await eventually('heartbeats go on', async () => heartbeats(a) > before + 1)
        expect(a.losses).toEqual([])
        await server.command('CLIENT', 'PAUSE', 2 * TTL, 'ALL')
        const start = systemClock.now()
        await eventually('it is lost', async () => a.losses.length > 0)
        expect(systemClock.now() - start).toBeLessThan(TTL + 500)
        await expectLost(a, 'expired')
      })
    })

    it('that forgets its scripts during operations fails no operation', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store(clientOf(server))
        let isOver = false
        const live = async (name: string): Promise<void> => {
          while (!isOver) {
            const grant = await granted(store, name, { name })
            expect(await store.renew(grant, never)).toEqual({ renewed: true })
            expect(await store.release(grant, never)).toEqual({ released: true })
          }
        }
        const traffic = Promise.all(Array.from({ length: 10 }, (_, number) => live(`job-${number}`)))
        for (let flush = 0; flush < 50; flush += 1) await server.command('SCRIPT', 'FLUSH')
        isOver = true
        await traffic
      })
    })

    it('that restarts with an older copy of its data: tokens keep growing', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store(clientOf(server))
        const old = await granted(store, 'old', { ttl: 2_000 })
        await server.command('SAVE')
        await store.release(old, never)
        const late = await granted(store, 'late', { ttl: 60_000 })
        await server.restart()
        await eventually('it is notified', async () => {
          const outcome = await store.renew(late, never)
          return !outcome.renewed && outcome.reason === 'taken'
        })
        await eventually('the copy has expired', async () => {
          const next = await store.acquire(claimOf('next'), never)
          if (next.granted) expect(next.grant.fencingToken).toBeGreaterThan(late.fencingToken)
          return next.granted
        })
      })
    })

    it('whose key is overwritten: the holder stops in time and gets the reason', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const a = scene.player('a', scene.store(clientOf(server)))
        await a.lease.acquire()
        const token = a.lease.fencingToken ?? 0n
        await server.command('SET', 'leasehold:{job}', 'something else')
        await expectLost(a, 'expired')
        expect(a.losses[0]?.cause).toMatchObject({ code: 'configuration' })
        expect(await server.command('GET', 'leasehold:{job}')).toBe('something else')
        await server.command('DEL', 'leasehold:{job}')
        expect(await a.lease.acquire()).toBe(true)
        expect(a.lease.fencingToken).toBeGreaterThan(token)
      })
    })

    it('that is a replica for a while: its answers are ignored, and the holder keeps the lease', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const a = scene.player('a', scene.store(clientOf(server)))
        await a.lease.acquire()
        // Its master does not exist, so that its data stay.
        await server.command('REPLICAOF', '127.0.0.1', 1)
        await eventually('it is noticed', async () => a.events.includes('jeopardy'))
        await server.command('REPLICAOF', 'NO', 'ONE')
        await eventually('it is over', async () => a.events.includes('recovered'))
        expect(a.losses).toEqual([])
      })
    })
  })
})

describeRedis('connections', () => {
  describe.concurrent.each(differingLibraries)('by $name,', { timeout: 90_000 }, ({ server: clientOf }) => {
    it('that are killed repeatedly: holders keep their leases, and waiters are served in order', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = scene.player('holder', scene.store(clientOf(server)))
        const store = scene.store(clientOf(server))
        const waiters = ['1', '2', '3', '4', '5'].map((owner) => scene.player(owner, store))
        await holder.lease.acquire()
        const served: string[] = []
        const turns = []
        for (const { lease } of waiters) {
          const owner = lease.settings.owner
          turns.push(
            lease.acquire(FOREVER).then(async () => {
              served.push(owner)
              await lease.release()
            }),
          )
          await untilInLine(server, turns.length)
        }
        for (let kill = 0; kill < 10; kill += 1) {
          await server.command('CLIENT', 'KILL', 'TYPE', kill % 2 === 0 ? 'pubsub' : 'normal')
          await sleep(200)
        }
        expect(holder.losses).toEqual([])
        await holder.lease.release()
        await Promise.all(turns)
        expect(served).toEqual(['1', '2', '3', '4', '5'])
        for (const { overlaps, losses } of waiters) expect([...overlaps, ...losses]).toEqual([])
      })
    })
  })
})
