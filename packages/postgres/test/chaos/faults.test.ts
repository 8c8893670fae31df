import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { heartbeats, type Player } from '@leasehold/testing/players'
import { describe, expect, it } from 'vitest'
import { FOREVER, Scene, TIMES } from '../support/scene.js'

const TTL = TIMES.heartbeatTimeout

/** It was lost once, for that reason. */
async function expectLost({ lease, losses }: Player, reason: string): Promise<void> {
  await eventually(`it is lost: ${reason}`, async () => losses.length > 0)
  expect(lease.checkLease()).toBe(false)
  await sleep(TIMES.heartbeatInterval)
  expect(losses.map((lost) => lost.reason)).toEqual([reason])
}

describePostgres('a server', () => {
  describe.concurrent('', { timeout: 90_000 }, () => {
    it.each([
      ['is killed', 'kill'],
      ['ends in an orderly way', 'shutDown'],
    ] as const)('that %s and starts again: the holder keeps the lease, a waiter its place', async (_, end) => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [a, b, c] = ['a', 'b', 'c'].map((owner) => scene.player(owner, scene.store(server))) as [
          Player,
          Player,
          Player,
        ]
        await a.lease.acquire()
        const token = a.lease.fencingToken ?? 0n
        const served: string[] = []
        const turns = []
        for (const { lease } of [b, c]) {
          turns.push(lease.acquire(FOREVER).then(() => served.push(lease.settings.owner)))
          await sleep(500)
        }
        await server[end]()
        await eventually('it is noticed', async () => a.events.includes('jeopardy'))
        expect(a.lease.checkLease()).toBe(true)
        await server.restart()
        await eventually('it is over', async () => a.events.includes('recovered'))
        expect([a.lease.checkLease(), a.lease.fencingToken, a.losses]).toEqual([true, token, []])
        await a.lease.release()
        await turns[0]
        expect(b.lease.fencingToken).toBeGreaterThan(token)
        await b.lease.release()
        await turns[1]
        expect(served).toEqual(['b', 'c'])
        expect([...b.overlaps, ...c.overlaps]).toEqual([])
      })
    })

    it('that is down for longer than the ttl: the holder stops in time, and another is granted afterwards', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const [a, b] = [scene.player('a', scene.store(server)), scene.player('b', scene.store(server))]
        await a.lease.acquire()
        const token = a.lease.fencingToken ?? 0n
        const waiting = b.lease.acquire(FOREVER)
        await server.kill()
        await expectLost(a, 'expired')
        expect(b.lease.checkLease()).toBe(false)
        await server.restart()
        expect(await waiting).toBe(true)
        expect(b.lease.fencingToken).toBeGreaterThan(token)
        expect(b.overlaps).toEqual([])
      })
    })

    it('that is frozen for less than the ttl: the holder keeps the lease and its token', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const a = scene.player('a', scene.store(server))
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
        const [a, b] = [scene.player('a', scene.store(server)), scene.player('b', scene.store(server))]
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

    it('that ends its connections repeatedly: holders keep their leases, and waiters are served in order', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const holder = scene.player('holder', scene.store(server))
        const store = scene.store(server)
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
          await untilWaiting(server, turns.length)
        }
        for (let round = 0; round < 10; round += 1) {
          await server.terminateBackends()
          await sleep(200)
        }
        expect(holder.losses).toEqual([])
        await holder.lease.release()
        await Promise.all(turns)
        expect(served).toEqual(['1', '2', '3', '4', '5'])
        for (const { overlaps, losses } of waiters) expect([...overlaps, ...losses]).toEqual([])
      })
    })

    it('that is killed right after an answer: it has what it confirmed', async () => {
      await Scene.play(async (scene) => {
        // Only commits write the log to disk.
        const server = await scene.server({ settings: { wal_writer_delay: '10s' } })
        const store = scene.store(server)
        const stateAfterRestart = async (): Promise<unknown> => {
          await server.restart()
          const [row] = await server.query('select state, grant_id, renewals, metadata from leasehold.leases')
          return row
        }
        const first = await granted(store, 'first', { ttl: 60_000 })
        expect(await stateAfterRestart()).toMatchObject({ state: 'leased', grant_id: 'first' })
        await store.renew(first, never)
        expect(await stateAfterRestart()).toMatchObject({ renewals: '1' })
        await store.update(first, { page: '7' }, never)
        expect(await stateAfterRestart()).toMatchObject({ metadata: { page: '7' } })
        await store.release(first, never)
        const eternal = await granted(store, 'eternal', { ttl: Number.POSITIVE_INFINITY })
        await store.release(eternal, never)
        expect(await stateAfterRestart()).toMatchObject({ state: 'available', grant_id: 'eternal' })
        const several = ['e', 'f'].map((name) => ({ name, ttl: Number.POSITIVE_INFINITY }))
        const eternals = await Promise.all(several.map((request) => granted(store, request.name, request)))
        await Promise.all(eternals.map((grant) => store.release(grant, never)))
        await server.restart()
        expect(await server.query(`select state from leasehold.leases where name in ('e', 'f')`)).toEqual([
          { state: 'available' },
          { state: 'available' },
        ])
        await server.query(`delete from leasehold.leases where name in ('e', 'f')`)
        const second = await granted(store, 'second', { ttl: 60_000 })
        expect(await store.acquire(claimOf('third', { queue: true }), never)).toMatchObject({ granted: false })
        await store.release(second, never, { page: '8' })
        expect(await stateAfterRestart()).toMatchObject({ state: 'available', metadata: { page: '8' } })
        const third = await store.acquire(claimOf('third', { queue: true, ttl: 60_000 }), never)
        expect(third).toMatchObject({ granted: true })
        expect(await store.acquire(claimOf('fourth', { queue: true }), never)).toMatchObject({ granted: false })
        if (third.granted) await store.release(third.grant, never)
        expect(await store.acquire(claimOf('fourth', { queue: true }), never)).toMatchObject({ granted: true })
        expect(await stateAfterRestart()).toMatchObject({ state: 'leased', grant_id: 'fourth' })
      })
    })

    it('that restarts with an older copy of its data: tokens keep growing', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store(server)
        const old = await granted(store, 'old', { ttl: 2_000 })
        const [copy] = await server.query<{ copy: string }>(`SELECT json_agg(l)::text AS copy FROM leasehold.leases l`)
        await store.release(old, never)
        const late = await granted(store, 'late', { ttl: 60_000 })
        await server.query('DELETE FROM leasehold.leases')
        await server.query(
          `INSERT INTO leasehold.leases SELECT * FROM json_populate_recordset(null::leasehold.leases, $1)`,
          [copy?.copy],
        )
        expect(await store.renew(late, never)).toMatchObject({ renewed: false, reason: 'taken' })
        await eventually('the copy has expired', async () => {
          const next = await store.acquire({ name: 'job', owner: 'anna', grantId: 'next', ttl: 10_000 }, never)
          if (next.granted) expect(next.grant.fencingToken).toBeGreaterThan(late.fencingToken)
          return next.granted
        })
      })
    })

    it('whose rows are deleted: the holder is notified, and tokens keep growing', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const a = scene.player('a', scene.store(server))
        await a.lease.acquire()
        const token = a.lease.fencingToken ?? 0n
        await server.query('TRUNCATE leasehold.leases')
        await expectLost(a, 'deleted')
        expect(await a.lease.acquire()).toBe(true)
        expect(a.lease.fencingToken).toBeGreaterThan(token)
      })
    })
  })
})

/** Waits until so many have a place in the queue. */
function untilWaiting(server: { query<Row>(text: string): Promise<Row[]> }, count: number): Promise<void> {
  return eventually(`${count} have a place`, async () => {
    const [row] = await server.query<{ count: string }>(
      'SELECT count(*) FROM leasehold.leases_waiters WHERE NOT watches AND kept_until > clock_timestamp()',
    )
    return Number(row?.count) === count
  })
}
