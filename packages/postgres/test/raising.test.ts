import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { granted, never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'

describePostgres('a raised token', () => {
  let server: PostgresServer
  let pool: Pool
  let store: PostgresLeaseStore

  beforeAll(async () => {
    server = await PostgresServer.start()
    pool = poolTo(server)
    await migrate(pool)
    store = new PostgresLeaseStore(pool)
  })

  afterAll(async () => {
    await store.close()
    await pool.end()
    await server.stop()
  })

  it('is exact up to 63 bits, and the next one follows it', async () => {
    const grant = await granted(store, 'first', { name: 'large' })
    const fencingToken = 2n ** 63n - 2n
    expect(await store.raiseToken(grant, fencingToken, never)).toEqual({ renewed: true })
    expect(await store.read('large', never)).toMatchObject({ grantId: 'first', fencingToken })
    await store.release({ ...grant, fencingToken }, never)
    expect((await granted(store, 'next', { name: 'large' })).fencingToken).toBe(fencingToken + 1n)
  })

  it('follows among many claims of one statement, too', async () => {
    const names = ['many-a', 'many-b', 'many-c']
    const first = await Promise.all(names.map((name) => granted(store, `first of ${name}`, { name })))
    const raised = first.map((grant) => ({ ...grant, fencingToken: grant.fencingToken + 10n ** 15n }))
    const outcomes = raised.map(({ fencingToken }, place) => {
      const grant = first[place]
      if (grant === undefined) throw new Error('no grant')
      return store.raiseToken(grant, fencingToken, never)
    })
    expect(await Promise.all(outcomes)).toEqual(names.map(() => ({ renewed: true })))
    await Promise.all(raised.map((grant) => store.release(grant, never)))
    const next = await Promise.all(names.map((name) => granted(store, `next of ${name}`, { name })))
    expect(next.map(({ fencingToken }) => fencingToken)).toEqual(raised.map(({ fencingToken }) => fencingToken + 1n))
  })

  it('is never lowered', async () => {
    const grant = await granted(store, 'first', { name: 'lower' })
    expect(await store.raiseToken(grant, 1n, never)).toEqual({ renewed: true })
    expect(await store.read('lower', never)).toMatchObject({ fencingToken: grant.fencingToken })
  })

  it('is not given to a grant that is over', async () => {
    const grant = await granted(store, 'first', { name: 'over' })
    const far = grant.fencingToken + 10n ** 15n
    await store.release(grant, never)
    expect(await store.raiseToken(grant, far, never)).toEqual({ renewed: false, reason: 'expired' })
    const next = await granted(store, 'next', { name: 'over' })
    expect(await store.raiseToken(grant, far, never)).toMatchObject({ renewed: false, reason: 'taken' })
    expect(await store.raiseToken({ ...grant, name: 'unknown' }, far, never)).toEqual({
      renewed: false,
      reason: 'deleted',
    })
    expect(await store.read('over', never)).toMatchObject({ grantId: 'next', fencingToken: next.fencingToken })
  })

  it('is kept over a crash of the server after it was confirmed', async () => {
    const grant = await granted(store, 'first', { name: 'crash' })
    const fencingToken = grant.fencingToken + 10n ** 15n
    await store.raiseToken(grant, fencingToken, never)
    await server.restart()
    expect(await store.read('crash', never)).toMatchObject({ grantId: 'first', fencingToken })
  })
})
