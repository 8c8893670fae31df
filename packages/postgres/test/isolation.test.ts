import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, type Grant, type LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'

const never = new AbortableCall()

/** Long, so that nothing expires on a busy machine. */
const TTL = 60_000

const levels = ['read committed', 'repeatable read', 'serializable']

describePostgres('with many clients at once,', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start({ settings: { max_connections: 300 } })
    const pool = poolTo(server)
    await migrate(pool)
    await pool.end()
  })

  afterAll(() => server.stop())

  describe.each(levels)('under %s,', (level) => {
    let pool: Pool
    let stores: PostgresLeaseStore[]

    beforeAll(() => {
      const options = `-c default_transaction_isolation=${level.replaceAll(' ', '\\ ')}`
      pool = poolTo(server, { max: 32, options })
      stores = Array.from({ length: 16 }, () => new PostgresLeaseStore(pool))
    })

    afterAll(async () => {
      for (const store of stores) await store.close()
      await pool.end()
    })

    const claim = (name: string) => ({ name, owner: 'anna', grantId: randomUUID(), ttl: TTL })

    it('the level is that of the connections', async () => {
      expect((await pool.query('show transaction_isolation')).rows).toEqual([{ transaction_isolation: level }])
    })

    it('one challenger of many is granted a name that never was held, or was released', async () => {
      const name = randomUUID()
      let last = 0n
      for (let round = 0; round < 8; round += 1) {
        const outcomes = await Promise.all(stores.map((store) => store.acquire(claim(name), never)))
        const grants = outcomes.flatMap((outcome) => (outcome.granted ? [outcome.grant] : []))
        expect(grants).toHaveLength(1)
        const [grant] = grants as [Grant]
        expect(grant.fencingToken).toBeGreaterThan(last)
        last = grant.fencingToken
        await stores[round % 16]?.release(grant, never)
      }
    })

    it('two never hold a name at once while all acquire, renew and release as fast as they can', async () => {
      const names = Array.from({ length: 3 }, () => randomUUID())
      const inside = new Map<string, number>()
      const last = new Map<string, bigint>()
      let grants = 0
      let turns = 0
      async function contend(store: LeaseStore, name: string): Promise<void> {
        const outcome = await store.acquire(claim(name), never)
        turns += 1
        if (!outcome.granted) return
        const { grant } = outcome
        inside.set(name, (inside.get(name) ?? 0) + 1)
        expect(inside.get(name)).toBe(1)
        expect(grant.fencingToken).toBeGreaterThan(last.get(name) ?? 0n)
        last.set(name, grant.fencingToken)
        grants += 1
        expect(await store.renew(grant, never)).toEqual({ renewed: true })
        inside.set(name, 0)
        expect(await store.release(grant, never)).toEqual({ released: true })
      }
      await Promise.all(
        stores.map(async (store, place) => {
          for (let turn = 0; turn < 30; turn += 1) await contend(store, names[(place + turn) % 3] ?? '')
        }),
      )
      expect(turns).toBe(480)
      expect(grants).toBeGreaterThan(30)
    })

    it('waiters that come while the holder releases are all served', async () => {
      const name = randomUUID()
      let inside = 0
      await Promise.all(
        stores.map(async (store, place) => {
          await sleep(place * 5)
          const lease = createLease(store, name, { heartbeatTimeout: TTL })
          expect(await lease.acquire({ wait: 50_000 })).toBe(true)
          inside += 1
          expect(inside).toBe(1)
          await sleep(place % 3)
          inside -= 1
          await lease.release()
        }),
      )
    })
  })
})
