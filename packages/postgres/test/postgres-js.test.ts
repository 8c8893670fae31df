import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AbortableCall } from '@leasehold/core/store'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { TcpProxy } from '@leasehold/testkit'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { poolTo } from './support/pool-to.js'

/** How many connections the library opens at most. */
const MOST = 3

/** How slow the network is: a connection opens after several round trips. */
const DELAY = 200

describePostgres('postgres.js', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start()
    const pool = poolTo(server, { max: 1 })
    await migrate(pool)
    await pool.end()
  })

  afterAll(() => server?.stop())

  async function whileConnecting(
    options: { fetch_types?: boolean },
    use: (sql: Sql, store: PostgresLeaseStore, way: TcpProxy) => Promise<void>,
  ): Promise<void> {
    const way = await TcpProxy.to(server.port)
    way.slowDown(DELAY)
    const sql = postgres(`postgres://postgres@127.0.0.1:${way.port}/postgres`, {
      max: MOST,
      onnotice: () => {},
      ...options,
    })
    const store = new PostgresLeaseStore(sql, { listen: false })
    try {
      await use(sql, store, way)
    } finally {
      await store.close()
      await sql.end({ timeout: 1 })
      await way.close()
    }
  }

  /** Rejects where the answer does not come: a connection that is lost for ever gives none. */
  async function soon<T>(answer: PromiseLike<T>): Promise<T> {
    const late = new AbortController()
    const limit = sleep(10_000, undefined, { signal: late.signal }).then(() => Promise.reject(new Error('no answer')))
    return await Promise.race([answer, limit]).finally(() => late.abort())
  }

  /** The name of a lease that somebody claimed, and gave up before a connection was open. */
  async function givenUp(store: PostgresLeaseStore, after: number): Promise<string> {
    const call = new AbortableCall()
    const name = randomUUID()
    const claiming = store.acquire({ name, owner: 'anna', grantId: randomUUID(), ttl: 60_000 }, call).catch(() => {})
    await sleep(after)
    call.abort(new Error('too late'))
    await claiming
    return name
  }

  describe.concurrent.each([true, false])('which fetches types: %s,', (fetch_types) => {
    const options = { fetch_types }

    it('serves its user after calls that ended while it was connecting', async ({ expect }) => {
      await whileConnecting(options, async (sql, store, way) => {
        for (const after of [0, 1, 20, 20, 20, 20, 20]) await givenUp(store, after)
        way.heal()
        const answers = await soon(Promise.all(Array.from({ length: 2 * MOST }, () => sql`select 1 as one`)))
        expect(answers.map(([row]) => row?.one)).toEqual(Array(2 * MOST).fill(1))
      })
    })

    it('never sends a call that ended while it was connecting, or waiting for a connection', async ({ expect }) => {
      await whileConnecting(options, async (sql, store, way) => {
        const names: string[] = []
        for (const after of [0, 20, 20, 20, 20, 20]) names.push(await givenUp(store, after))
        way.heal()
        await soon(Promise.all(Array.from({ length: 2 * MOST }, () => sql`select 1`)))
        for (const name of names) expect(await store.read(name, never)).toBeUndefined()
      })
    })

    it('never sends a call that ended while all connections were busy', async ({ expect }) => {
      await whileConnecting(options, async (sql, store, way) => {
        way.heal()
        const busy = Array.from({ length: MOST }, () => sql.begin((tx) => tx`select pg_sleep(0.5)`))
        await sleep(200)
        const name = await givenUp(store, 50)
        await Promise.all(busy)
        // A claim that was sent now takes its time, on another connection than the read.
        await sleep(500)
        expect(await store.read(name, never)).toBeUndefined()
      })
    })
  })
})
