import { systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import type { Player } from '@leasehold/testing/players'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { startChild } from './support/child.js'
import { scriptCalls } from './support/command-count.js'
import { differingClusterLibraries, differingLibraries } from './support/libraries.js'
import { lineLength, untilInLine } from './support/line.js'
import { Scene } from './support/scene.js'

const FOREVER = { wait: Number.POSITIVE_INFINITY }

/** So long that no waiter polls, and nothing expires, during a test. */
const LONG = { heartbeatTimeout: 120_000, heartbeatInterval: 20_000, operationTimeout: 10_000 }

/** Much less than that: a waiter that is served within it was notified. */
const AT_ONCE = 10_000

/** One store of each library, in turn. */
function stores(scene: Scene, server: RedisServer, count: number): RedisLeaseStore[] {
  return Array.from({ length: count }, (_, place) => {
    const library = differingClusterLibraries[place % differingClusterLibraries.length]
    if (library === undefined) throw new Error('no library')
    return scene.store(library.server(server))
  })
}

/** Many waiters in line; each releases the lease as soon as it has it. */
async function lineUp(
  scene: Scene,
  server: RedisServer,
  count: number,
): Promise<{ served: string[]; all: Promise<unknown> }> {
  const served: string[] = []
  const turns: Promise<unknown>[] = []
  const shared = stores(scene, server, 3)
  for (let place = 0; place < count; place += 1) {
    const { lease, overlaps } = scene.player(`${place}`, shared[place % 3] as RedisLeaseStore, LONG)
    turns.push(
      lease.acquire(FOREVER).then(async () => {
        served.push(lease.settings.owner)
        expect(overlaps).toEqual([])
        await lease.release()
      }),
    )
    await untilInLine(server, place + 1)
  }
  return { served, all: Promise.all(turns) }
}

async function holding(scene: Scene, server: RedisServer): Promise<Player> {
  const [store] = stores(scene, server, 1)
  const holder = scene.player('holder', store as RedisLeaseStore, LONG)
  expect(await holder.lease.acquire()).toBe(true)
  return holder
}

describeRedis('waiters', () => {
  describe.concurrent('are served', { timeout: 90_000 }, () => {
    it('first come, first served, fifty of them over three stores', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = await holding(scene, server)
        const { served, all } = await lineUp(scene, server, 50)
        await holder.lease.release()
        await all
        expect(served).toEqual(Array.from({ length: 50 }, (_, place) => `${place}`))
      })
    })

    it('at once, if the process of an earlier waiter was killed', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = await holding(scene, server)
        const first = await startChild('waiter', [server.port, 'job', 120_000])
        await untilInLine(server, 1)
        const [store] = stores(scene, server, 1)
        const b = scene.player('b', store as RedisLeaseStore, LONG)
        const waiting = b.lease.acquire(FOREVER)
        await untilInLine(server, 2)
        await first.kill()
        const start = systemClock.now()
        await holder.lease.release()
        expect(await waiting).toBe(true)
        expect(systemClock.now() - start).toBeLessThan(AT_ONCE)
      })
    })

    it('at once, if an earlier waiter has withdrawn', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = await holding(scene, server)
        const [one, other] = stores(scene, server, 2)
        const [a, b] = [
          scene.player('a', one as RedisLeaseStore, LONG),
          scene.player('b', other as RedisLeaseStore, LONG),
        ]
        const withdrawal = new AbortController()
        const withdrawn = a.lease.acquire({ ...FOREVER, signal: withdrawal.signal })
        await untilInLine(server, 1)
        const waiting = b.lease.acquire(FOREVER)
        await untilInLine(server, 2)
        withdrawal.abort(new Error('enough'))
        await expect(withdrawn).rejects.toThrow('enough')
        await untilInLine(server, 1)
        const start = systemClock.now()
        await holder.lease.release()
        expect(await waiting).toBe(true)
        expect(systemClock.now() - start).toBeLessThan(AT_ONCE)
      })
    })

    it('after the ttl of an earlier waiter that hangs, and no other waiter overtakes them', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = await holding(scene, server)
        const ttl = 6_000
        const first = await startChild('waiter', [server.port, 'job', ttl])
        await untilInLine(server, 1)
        const [one, other] = stores(scene, server, 2)
        const times = { heartbeatTimeout: ttl, heartbeatInterval: 600, operationTimeout: 1_000 }
        const b = scene.player('b', one as RedisLeaseStore, times)
        const waiting = b.lease.acquire(FOREVER)
        await untilInLine(server, 2)
        first.freeze()
        await holder.lease.release()
        const start = systemClock.now()
        // The name is free, and it is another waiter's turn.
        expect(await (other as RedisLeaseStore).acquire(claimOf('newcomer'), never)).toEqual({ granted: false })
        expect(await waiting).toBe(true)
        expect(systemClock.now() - start).toBeLessThan(ttl + ttl / 3 + 3_000)
        await first.kill()
      })
    })

    it('when a holder has died, as soon as its lease has expired', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [one, other] = stores(scene, server, 2)
        const grant = await granted(other as RedisLeaseStore, 'dead', { ttl: 3_000 })
        const b = scene.player('b', one as RedisLeaseStore, LONG)
        const waiting = b.lease.acquire(FOREVER)
        await untilInLine(server, 1)
        const { remaining = 0 } = (await (other as RedisLeaseStore).read('job', never)) ?? {}
        const seen = systemClock.now()
        expect(await waiting).toBe(true)
        const late = systemClock.now() - seen - remaining
        // The remaining time is in whole milliseconds, and some time passed before it arrived.
        expect(late).toBeGreaterThan(-500)
        expect(late).toBeLessThan(2_000)
        expect(b.lease.fencingToken).toBeGreaterThan(grant.fencingToken)
      })
    })

    it('when the holder and the earlier waiters have died', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [one, other] = stores(scene, server, 2)
        await granted(other as RedisLeaseStore, 'dead', { ttl: 4_000 })
        // It is not asked for again within its ttl.
        await (other as RedisLeaseStore).acquire(claimOf('dead too', { ttl: 500, queue: true }), never)
        const b = scene.player('b', one as RedisLeaseStore, LONG)
        await eventually('the first has died', async () => {
          const place = String(await server.command('HGET', 'leasehold:{job}', 'q:1')).split(' ')[1]
          const [seconds] = (await server.command('TIME')) as readonly string[]
          return Number(seconds) * 1_000_000 > Number(place)
        })
        const start = systemClock.now()
        expect(await b.lease.acquire(FOREVER)).toBe(true)
        // Well before it would ask again.
        expect(systemClock.now() - start).toBeLessThan(AT_ONCE)
      })
    })
  })

  describe.concurrent('cost', { timeout: 90_000 }, () => {
    it('the same number of commands for each turn, however many waiters there are', async () => {
      const [few, many] = await Promise.all([10, 100].map(commandsEach))
      expect(many).toBeLessThan((few ?? 0) * 1.3 + 0.5)
    })

    it('no more memory than needed, if many waiters have died behind a living one', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [store, other] = stores(scene, server, 2) as [RedisLeaseStore, RedisLeaseStore]
        await granted(store, 'held', { ttl: 120_000 })
        await store.acquire(claimOf('first', { ttl: 120_000, queue: true }), never)
        const lengths: number[] = []
        for (let round = 0; round < 20; round += 1) {
          const calls = Array.from({ length: 200 }, (_, place) => {
            return other.acquire(claimOf(`${round}-${place}`, { ttl: 1, queue: true }), never)
          })
          await Promise.all(calls)
          lengths.push(await lineLength(server))
        }
        expect(Math.max(...lengths)).toBeLessThan(300)
        // The first is still the first.
        await other.release({ ...claimOf('held'), fencingToken: 0n }, never)
        expect((await other.acquire(claimOf('newcomer'), never)).granted).toBe(false)
        expect((await store.acquire(claimOf('first'), never)).granted).toBe(true)
        expect((await other.acquire(claimOf('second', { queue: true }), never)).granted).toBe(false)
        await store.release({ ...claimOf('first'), fencingToken: 0n }, never)
        expect((await other.acquire(claimOf('second'), never)).granted).toBe(true)
        expect(await lineLength(server)).toBe(0)
      })
    })
  })
})

/** How often the script runs until one of so many waiters is served and the next one is notified. */
async function commandsEach(count: number): Promise<number> {
  let each = 0
  await Scene.play(async (scene) => {
    const server = await scene.server()
    const holder = await holding(scene, server)
    const { all } = await lineUp(scene, server, count)
    const before = await scriptCalls(server)
    await holder.lease.release()
    await all
    each = ((await scriptCalls(server)) - before) / count
  })
  return each
}

describeRedis('a waiter whose message was lost with its connection', () => {
  it.concurrent.each(differingClusterLibraries)(
    'by $name, asks again as soon as the loss is noticed, and not at its next poll',
    { timeout: 60_000 },
    async (library) => {
      await Scene.play(async (scene) => {
        const server = await scene.server({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
        const holder = scene.store(new Redis(server.url, { lazyConnect: true }))
        const held = await granted(holder, 'held', { ttl: LONG.heartbeatTimeout })
        const waiter = scene.player('waiter', scene.store(library.server(server)), LONG)
        const waiting = waiter.lease.acquire(FOREVER)
        await untilInLine(server, 1)
        await server.restart()
        const released = systemClock.now()
        await eventually('it is released', async () => (await holder.release(held, never)).released)
        expect(await waiting).toBe(true)
        expect(systemClock.now() - released).toBeLessThan(AT_ONCE)
      })
    },
  )
})

describeRedis('a watcher of a name', () => {
  it.concurrent.each(differingLibraries)(
    'by $name, is notified of release, break and expiry',
    { timeout: 60_000 },
    async (library) => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [store, watcher] = [scene.store(library.server(server)), scene.store(library.server(server))]
        let notices = 0
        const ended = new AbortableCall()
        const watching = (async () => {
          for await (const _ of watcher.watch('job', ended)) notices += 1
        })()
        /** The watcher is notified after this. */
        const expectTold = async (act: () => Promise<unknown>): Promise<void> => {
          const before = notices
          await act()
          await eventually('the watcher is notified', async () => notices > before)
        }
        await eventually('the first notice', async () => notices > 0)
        const grant = await granted(store, 'a')
        await expectTold(() => store.release(grant, never))
        await granted(store, 'b')
        await expectTold(() => store.break('job', { period: 0 }, never))
        await expectTold(() => granted(store, 'c', { ttl: 500 }))
        ended.abort()
        await watching
      })
    },
  )
})
