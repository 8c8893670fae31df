import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { heartbeats, type Player } from '@leasehold/testing/players'
import type { PostgresServer } from '@leasehold/testing/postgres-server'
import { describe, expect, it } from 'vitest'
import { Scene } from '../support/scene.js'

/** Waits until a standby has all that its primary has written. */
function untilCaughtUp(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  return eventually('the standby has caught up', async () => {
    const [written] = await primary.query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn')
    const [row] = await standby.query<{ reached: boolean }>(
      'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS reached',
      [written?.lsn],
    )
    return row?.reached === true
  })
}

describePostgres('a standby', () => {
  describe.concurrent('', { timeout: 120_000 }, () => {
    it('refuses every operation with an error that names the reason, and grants nothing', async () => {
      await Scene.play(async (scene) => {
        const primary = await scene.server()
        const held = await granted(scene.store(primary), 'held', { ttl: 60_000 })
        const standby = await scene.standby(primary)
        await untilCaughtUp(primary, standby)
        const store = scene.store(standby)
        const refused = { code: 'unavailable', message: expect.stringMatching(/read-only|standby|can write/) }
        await expect(store.acquire(claimOf('other'), never)).rejects.toMatchObject(refused)
        await expect(store.acquire(claimOf('new', { name: 'new' }), never)).rejects.toMatchObject(refused)
        await expect(store.renew(held, never)).rejects.toMatchObject(refused)
        await expect(store.release(held, never)).rejects.toMatchObject(refused)
        // A standby may lag behind.
        await expect(store.read('job', never)).rejects.toMatchObject(refused)
      })
    })

    it('that has everything is promoted: the holder keeps its lease and token', async () => {
      await Scene.play(async (scene) => {
        const primary = await scene.server()
        const standby = await scene.standby(primary)
        const way = await scene.proxy(primary)
        const [a, b] = [scene.player('a', scene.store(way)), scene.player('b', scene.store(way))]
        await a.lease.acquire()
        const token = a.lease.fencingToken
        await untilCaughtUp(primary, standby)
        await primary.kill()
        await standby.promote()
        way.retarget(standby.port)
        const before = heartbeats(a)
        await eventually('it is renewed by the new primary', async () => heartbeats(a) > before + 1)
        expect(a.losses).toEqual([])
        expect(a.lease.fencingToken).toBe(token)
        expect(await b.lease.acquire()).toBe(false)
      })
    })

    it('that lacks the last grants is promoted: holders lose them, tokens grow, and the old fence is kept out', async () => {
      await Scene.play(async (scene) => {
        const primary = await scene.server()
        const wire = await scene.proxy(primary)
        const standby = await scene.standby(primary, { through: wire.port })
        const way = await scene.proxy(primary)
        const times = { heartbeatTimeout: 20_000, heartbeatInterval: 1_000, operationTimeout: 2_000 }
        const play = (owner: string): Player => scene.player(owner, scene.store(way), times)
        const [a, b, c] = [play('a'), play('b'), play('c')]
        await a.lease.acquire()
        const first = a.lease.fencingToken ?? 0n
        await untilCaughtUp(primary, standby)
        wire.blackHole()
        await a.lease.release()
        await b.lease.acquire()
        const second = b.lease.fencingToken ?? 0n
        expect(second).toBeGreaterThan(first)
        await primary.kill()
        await standby.promote()
        way.retarget(standby.port)
        // The new primary knows neither the release nor the grant of b: for it, a has the lease.
        await eventually('b has lost it', async () => b.losses.length > 0)
        expect(b.losses.map(({ reason }) => reason)).toEqual(['taken'])
        expect(await c.lease.acquire({ wait: 60_000 })).toBe(true)
        // The token of b is unknown here; the clock of the server makes the next one larger.
        expect(c.lease.fencingToken).toBeGreaterThan(second)
        const writeAs = (token: bigint) => {
          return standby.query(`SELECT leasehold.leases_guard('job', $1)`, [String(token)])
        }
        await expect(writeAs(second)).rejects.toMatchObject({ code: 'LH001' })
        await expect(writeAs(first)).rejects.toMatchObject({ code: 'LH001' })
        await writeAs(c.lease.fencingToken ?? 0n)
        expect(c.overlaps).toEqual([])
      })
    })

    it('is made the primary while processes wait: they are granted in order, one at a time', async () => {
      await Scene.play(async (scene) => {
        const primary = await scene.server()
        const standby = await scene.standby(primary)
        const way = await scene.proxy(primary)
        const holder = scene.player('holder', scene.store(way))
        await holder.lease.acquire()
        const waiters = ['1', '2', '3'].map((owner) => scene.player(owner, scene.store(way)))
        const served: string[] = []
        const turns = []
        for (const { lease } of waiters) {
          turns.push(
            lease.acquire({ wait: 80_000 }).then(async () => {
              served.push(lease.settings.owner)
              await lease.release()
            }),
          )
          await eventually('it has a place', async () => {
            const [row] = await primary.query<{ count: string }>('SELECT count(*) FROM leasehold.leases_waiters')
            return Number(row?.count) === turns.length
          })
        }
        await untilCaughtUp(primary, standby)
        await primary.kill()
        await standby.promote()
        way.retarget(standby.port)
        way.reset()
        const before = heartbeats(holder)
        await eventually('the holder is renewed or has lost it', async () => {
          return holder.losses.length > 0 || heartbeats(holder) > before
        })
        await holder.lease.release()
        await Promise.all(turns)
        expect(served).toEqual(['1', '2', '3'])
        expect(waiters.flatMap(({ overlaps }) => overlaps)).toEqual([])
      })
    })
  })
})
