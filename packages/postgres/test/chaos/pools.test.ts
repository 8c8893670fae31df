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

describePostgres("the user's pool", () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start()
  })

  afterAll(() => server?.stop())

  const play = (act: (scene: Scene) => Promise<void>): Promise<void> => Scene.play(act, server)

  describe.concurrent('', { timeout: 90_000 }, () => {
    it('that is exhausted: calls end with their time limit, and nothing of them is left when it is free', async () => {
      await play(async (scene) => {
        const pool = scene.pool(server, { max: 2 })
        const store = scene.store(pool)
        const a = scene.player('a', store)
        const taken = await Promise.all([pool.connect(), pool.connect()])
        const start = systemClock.now()
        await expect(a.lease.acquire()).rejects.toMatchObject({ code: 'timeout' })
        expect(systemClock.now() - start).toBeLessThan(2 * TIMES.operationTimeout)
        for (const client of taken) client.release()
        await eventually('the pool is free', async () => pool.waitingCount === 0 && pool.idleCount === pool.totalCount)
        // The call that ended is not carried out later, or is taken back.
        await eventually(
          'nobody holds it',
          async () => (await scene.store(server).read('job', never))?.state !== 'leased',
        )
        expect(await a.lease.acquire()).toBe(true)
      })
    })

    it('that is exhausted for less than the ttl: the holder keeps its lease', async () => {
      await play(async (scene) => {
        const pool = scene.pool(server, { max: 1 })
        const a = scene.player('a', scene.store(pool))
        await a.lease.acquire()
        const client = await pool.connect()
        await eventually('it is noticed', async () => a.events.includes('jeopardy'))
        client.release()
        await eventually('it is over', async () => a.events.includes('recovered'))
        expect(a.losses).toEqual([])
      })
    })

    it('is not starved by leases that hang: queries of the user go on at once on the connections that work', async () => {
      await play(async (scene) => {
        const way = await scene.proxy(server)
        const pool = scene.pool(way, { max: 6 })
        const store = scene.store(pool)
        const players = Array.from({ length: 40 }, (_, place) => {
          return scene.player(`owner ${place}`, store, { name: `job-${place}`, operationTimeout: 1_000 })
        })
        await Promise.all(players.map(({ lease }) => lease.acquire({ wait: 20_000 })))
        // Connections that hang belong to the lease store alone: a user's query that follows finds a working one.
        way.blackHole()
        await eventually('all have noticed', async () => players.every(({ events }) => events.includes('jeopardy')))
        way.heal()
        const start = systemClock.now()
        // The end of a connection that was idle may reach the pool after its next use.
        const useAll = (): Promise<unknown[]> => Promise.all(Array.from({ length: 6 }, () => pool.query('SELECT 1')))
        await eventually('the pool works', async () => (await useAll()).length === 6)
        expect(systemClock.now() - start).toBeLessThan(5_000)
        await eventually('all have recovered', async () => players.every(({ events }) => events.includes('recovered')))
        expect(players.flatMap(({ losses }) => losses)).toEqual([])
        expect(pool.totalCount).toBeLessThanOrEqual(6)
      })
    })

    it('keeps a connection for the user while 40 leases wait for a statement that hangs', async () => {
      await play(async (scene) => {
        const pool = scene.pool(server, { max: 4 })
        const store = scene.store(pool)
        await granted(store, 'warm', { name: 'warm' })
        // An operator locks the table: every statement of the store hangs, and nothing else.
        const operator = await scene.pool(server).connect()
        operator.on('error', () => {})
        await operator.query('BEGIN')
        await operator.query(`LOCK TABLE ${scene.schema}.leases IN ACCESS EXCLUSIVE MODE`)
        const calls = Array.from({ length: 40 }, (_, place) =>
          store
            .acquire(claimOf(`grant-${place}`, { name: `job-${place}` }), within(3_000))
            .catch((error: Error) => error),
        )
        await sleep(300)
        const start = systemClock.now()
        await pool.query('SELECT 1')
        expect(systemClock.now() - start).toBeLessThan(2_000)
        const outcomes = await Promise.all(calls)
        expect(outcomes.every((outcome) => outcome instanceof Error)).toBe(true)
        // Calls that ended keep no connection busy, although the table is still locked.
        const again = systemClock.now()
        await Promise.all(Array.from({ length: 4 }, () => pool.query('SELECT 1')))
        expect(systemClock.now() - again).toBeLessThan(4_000)
        // Nor do they leave a statement behind that waits on the server.
        await eventually('the server has ended them', async () => {
          const waiting = await server.query(
            `SELECT FROM pg_locks WHERE NOT granted AND relation = '${scene.schema}.leases'::regclass`,
          )
          return waiting.length === 0
        })
        await operator.query('ROLLBACK')
        operator.release()
        expect((await granted(store, 'next', { name: 'other' })).grantId).toBe('next')
      })
    })

    it('with a statement_timeout: calls that it ends reject, and the lease goes on', async () => {
      await play(async (scene) => {
        const pool = scene.pool(server, { statement_timeout: 400, lock_timeout: 300 })
        const a = scene.player('a', scene.store(pool))
        await a.lease.acquire()
        const operator = await scene.pool(server).connect()
        await operator.query('BEGIN')
        await operator.query(`LOCK TABLE ${scene.schema}.leases IN ACCESS EXCLUSIVE MODE`)
        await eventually('it is noticed', async () => a.events.includes('jeopardy'))
        await operator.query('ROLLBACK')
        operator.release()
        await eventually('it is over', async () => a.events.includes('recovered'))
        expect(a.losses).toEqual([])
        // A waiter and a holder are not ended by it: no statement of theirs is long.
        const b = scene.player('b', scene.store(scene.pool(server, { statement_timeout: 400, lock_timeout: 300 })))
        const waiting = b.lease.acquire(FOREVER)
        await sleep(1_000)
        await a.lease.release()
        expect(await waiting).toBe(true)
      })
    })

    it('with a row that another transaction has locked: other leases are renewed, and this one while its ttl lasts', async () => {
      await play(async (scene) => {
        const store = scene.store(server)
        const [a, b] = [scene.player('a', store), scene.player('b', store, { name: 'other' })]
        await a.lease.acquire()
        await b.lease.acquire()
        const operator = await scene.pool(server).connect()
        await operator.query('BEGIN')
        await operator.query(`SELECT FROM ${scene.schema}.leases WHERE name = 'job' FOR UPDATE`)
        await eventually('the holder of the row notices', async () => a.events.includes('jeopardy'))
        const before = heartbeats(b)
        await sleep(3 * TIMES.heartbeatInterval)
        expect(heartbeats(b)).toBeGreaterThan(before)
        expect(b.events).not.toContain('jeopardy')
        await operator.query('ROLLBACK')
        operator.release()
        await eventually('it is over', async () => a.events.includes('recovered'))
        expect([...a.losses, ...b.losses]).toEqual([])
      })
    })
  })
})
