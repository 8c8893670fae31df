import { randomUUID } from 'node:crypto'
import { createLease, type Grant, systemClock } from '@leasehold/core'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import type { Pool, PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'

const TTL = 60_000

/** In another order for each number. */
function turned<T>(items: readonly T[], by: number): readonly T[] {
  const turn = by % items.length
  const result = [...items.slice(turn), ...items.slice(0, turn)]
  return by % 2 === 0 ? result : result.reverse()
}

describePostgres('operations that share a statement', () => {
  let server: PostgresServer
  let pool: Pool
  let store: PostgresLeaseStore

  beforeAll(async () => {
    server = await PostgresServer.start({ settings: { max_connections: 200 } })
    pool = poolTo(server, { max: 8 })
    await migrate(pool)
    store = new PostgresLeaseStore(pool)
  })

  afterAll(async () => {
    await store.close()
    await pool.end()
    await server.stop()
  })

  const claim = (name: string, request: { grantId?: string; ttl?: number; queue?: boolean } = {}) => ({
    name,
    owner: 'anna',
    grantId: randomUUID(),
    ttl: TTL,
    ...request,
  })

  async function granted(name: string, request?: { ttl?: number }): Promise<Grant> {
    const outcome = await store.acquire(claim(name, request), never)
    if (!outcome.granted) throw new Error(`held by ${outcome.holder?.owner}`)
    return outcome.grant
  }

  /** Names that had a holder before, and are free. */
  async function freeNames(count: number): Promise<readonly string[]> {
    const names = Array.from({ length: count }, () => randomUUID())
    const grants = await Promise.all(names.map((name) => granted(name)))
    await Promise.all(grants.map((grant) => store.release(grant, never)))
    return names
  }

  /** A transaction that is open until it is ended. */
  async function open(...statements: readonly [text: string, ...values: unknown[]][]): Promise<PoolClient> {
    const client = await pool.connect()
    await client.query('begin')
    for (const [text, ...values] of statements) await client.query(text, values)
    return client
  }

  async function end(client: PoolClient): Promise<void> {
    await client.query('rollback')
    client.release()
  }

  it('have each their own outcome: free, new, held, repeated, expired and awaited names', async () => {
    const [free = '', held = '', repeated = '', expired = '', awaited = ''] = await freeNames(5)
    const [holder, again] = await Promise.all([granted(held), granted(repeated), granted(expired, { ttl: 1 })])
    const last = await granted(awaited)
    const waiter = claim(awaited, { queue: true })
    await store.acquire(waiter, never)
    await store.release(last, never)
    await eventually('it has expired', async () => (await store.read(expired, never))?.state === 'expired')
    const before = await store.read(expired, never)
    const outcomes = await Promise.all(
      [
        claim(free),
        claim(randomUUID()),
        claim(held),
        claim(repeated, { grantId: again.grantId }),
        claim(expired),
        claim(awaited),
      ].map((request) => store.acquire(request, never)),
    )
    expect(outcomes.map((outcome) => outcome.granted)).toEqual([true, true, false, true, true, false])
    expect(outcomes[2]).toMatchObject({ holder: { grantId: holder.grantId, fencingToken: holder.fencingToken } })
    expect(outcomes[3]).toMatchObject({ grant: { fencingToken: again.fencingToken } })
    const expiredAfter = outcomes[4]?.granted ? outcomes[4].grant.fencingToken : 0n
    expect(expiredAfter).toBeGreaterThan(before?.fencingToken ?? 0n)
    expect(await store.acquire(waiter, never)).toMatchObject({ granted: true })
  })

  it('grant a name that is claimed several times at once to the first', async () => {
    const [name = '', other = ''] = await freeNames(2)
    const claims = [claim(name), claim(other), claim(name), claim(name)]
    const outcomes = await Promise.all(claims.map((request) => store.acquire(request, never)))
    expect(outcomes.map((outcome) => outcome.granted)).toEqual([true, true, false, false])
    expect(outcomes[3]).toMatchObject({ holder: { grantId: claims[0]?.grantId } })
  })

  it('keep the metadata and the ttl of each grant, and return those that the last holder left', async () => {
    const names = Array.from({ length: 3 }, () => randomUUID())
    const first = await Promise.all(names.map((name) => granted(name)))
    await Promise.all(first.map((grant, place) => store.release(grant, never, { page: `${place}` })))
    const outcomes = await Promise.all(
      names.map((name, place) =>
        store.acquire({ ...claim(name), ttl: TTL + place, ...(place === 1 && { metadata: { own: '"é\\' } }) }, never),
      ),
    )
    expect(outcomes).toMatchObject(
      names.map((_, place) => ({ previous: { page: `${place}` }, grant: { ttl: TTL + place } })),
    )
    const records = await Promise.all(names.map((name) => store.read(name, never)))
    expect(records.map((record) => record?.metadata)).toEqual([{ page: '0' }, { own: '"é\\' }, { page: '2' }])
  })

  it('refuse a name at once that a guard keeps after its release, and grant the others', async () => {
    const names = await freeNames(3)
    const [guarded = ''] = names
    const grant = await granted(guarded)
    const guard = await open(['select leasehold.leases_guard($1, $2)', guarded, `${grant.fencingToken}`])
    await store.release(grant, never)
    const outcomes = await Promise.all(names.map((name) => store.acquire(claim(name), never)))
    expect(outcomes.map((outcome) => outcome.granted)).toEqual([false, true, true])
    expect(outcomes[0]).toMatchObject({ holder: { grantId: grant.grantId, state: 'leased' } })
    await end(guard)
    expect(await store.acquire(claim(guarded), never)).toMatchObject({ granted: true })
  })

  it('release what is held, and say who holds the rest', async () => {
    const names = await freeNames(4)
    const grants = await Promise.all(names.map((name) => granted(name)))
    const [stale] = grants as [Grant]
    await store.release(stale, never)
    const next = await granted(stale.name)
    const outcomes = await Promise.all(grants.map((grant) => store.release(grant, never)))
    expect(outcomes.map((outcome) => outcome.released)).toEqual([false, true, true, true])
    expect(outcomes[0]).toMatchObject({ holder: { grantId: next.grantId } })
    expect(await store.renew(next, never)).toEqual({ renewed: true })
  })

  it('notify the first waiter of each name that is released', async () => {
    const names = await freeNames(4)
    const grants = await Promise.all(names.map((name) => granted(name)))
    const others = names.map((name) => createLease(store, name, { heartbeatTimeout: TTL }))
    const waiting = others.map((other) => other.acquire({ wait: TTL }))
    const waiters = async () =>
      (await server.query(`select from leasehold.leases_waiters where name = any($1)`, [names])).length
    await eventually('all wait', async () => (await waiters()) === names.length)
    const begin = systemClock.now()
    await Promise.all(grants.map((grant) => store.release(grant, never)))
    expect(await Promise.all(waiting)).toEqual(names.map(() => true))
    // Without a notification they would wait for the end of the ttl.
    expect(systemClock.now() - begin).toBeLessThan(TTL / 2)
    await Promise.all(others.map((other) => other.release()))
  })

  it('release a name only after a waiter who is about to take its place', async () => {
    const names = await freeNames(3)
    const grants = await Promise.all(names.map((name) => granted(name)))
    const [first = ''] = names
    const waiter = await open(
      ['select leasehold.leases_lock_1($1, true)', first],
      [`select leasehold.leases_wait_1($1, 'w', 60000, 'channel', true)`, first],
    )
    const listener = await pool.connect()
    const messages: (string | undefined)[] = []
    listener.on('notification', ({ payload }) => void messages.push(payload))
    await listener.query('listen channel')
    const settled: string[] = []
    const releases = grants.map(async (grant) => {
      const outcome = await store.release(grant, never)
      settled.push(grant.name)
      return outcome
    })
    await eventually('the others are released', async () => settled.length === 2)
    expect(settled).not.toContain(first)
    await waiter.query('commit')
    waiter.release()
    expect(await Promise.all(releases)).toEqual(grants.map(() => ({ released: true })))
    await eventually('the waiter is notified', async () => messages.length > 0)
    expect(messages).toEqual(['turn w'])
    await listener.query('unlisten *')
    listener.release()
    expect((await store.acquire(claim(first), never)).granted).toBe(false)
  })

  describe.each(['read committed', 'repeatable read', 'serializable'])('under %s,', (level) => {
    it('never grant a name to two processes that claim and release many in any order', {
      timeout: 60_000,
    }, async () => {
      const options = `-c default_transaction_isolation=${level.replaceAll(' ', '\\ ')}`
      const pools = Array.from({ length: 4 }, () => poolTo(server, { max: 4, options }))
      const stores = pools.map((own) => new PostgresLeaseStore(own))
      const names = await freeNames(12)
      const inside = new Set<string>()
      const last = new Map<string, bigint>()
      let grants = 0
      await Promise.all(
        stores.map(async (own, place) => {
          for (let round = 0; round < 10; round += 1) {
            await Promise.all(
              turned(names, place + round).map(async (name) => {
                const outcome = await own.acquire(claim(name), never)
                if (!outcome.granted) return
                expect(inside.has(name)).toBe(false)
                inside.add(name)
                expect(outcome.grant.fencingToken).toBeGreaterThan(last.get(name) ?? 0n)
                last.set(name, outcome.grant.fencingToken)
                grants += 1
                await new Promise(setImmediate)
                inside.delete(name)
                expect(await own.release(outcome.grant, never)).toEqual({ released: true })
              }),
            )
          }
        }),
      )
      expect(grants).toBeGreaterThanOrEqual(names.length)
      for (const own of stores) await own.close()
      for (const own of pools) await own.end()
    })
  })
})
