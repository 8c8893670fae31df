import type { StoreFinding } from '@leasehold/core/store'
import { migrate, type PostgresClient, PostgresGuard, PostgresLeaseStore } from '@leasehold/postgres'
import { describePgBouncer, describePostgres } from '@leasehold/testing/describe-postgres'
import { granted, never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Client } from 'pg'
import { expect, it } from 'vitest'
import { postgresJs, singleClient } from './support/libraries.js'
import { Scene } from './support/scene.js'

/** Not those of the test servers, which may lose all in a crash. */
const SAFE = { settings: { fsync: 'on', full_page_writes: 'on' } }

/** The findings that are not ok, as `check: result`. */
async function troublesOf(store: PostgresLeaseStore): Promise<string[]> {
  const findings = await store.probe(never)
  return findings.filter(({ result }) => result !== 'ok').map(({ check, result }) => `${check}: ${result}`)
}

async function findingOf(store: PostgresLeaseStore, check: string): Promise<StoreFinding | undefined> {
  return (await store.probe(never)).find((finding) => finding.check === check)
}

function storeOn(scene: Scene, client: PostgresClient): PostgresLeaseStore {
  const store = new PostgresLeaseStore(client)
  scene.atEnd(() => store.close())
  return store
}

describePostgres('a server', () => {
  it('with the usual settings passes every check', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server(SAFE)
      const store = scene.store(server)
      expect(await troublesOf(store)).toEqual([])
      expect(await findingOf(store, 'clock')).toMatchObject({ found: expect.stringMatching(/ \d{1,3} ms /) })
      await granted(store, 'a')
    })
  })

  it('that is a standby is named, and its claims are refused', async () => {
    await Scene.play(async (scene) => {
      const primary = await scene.server(SAFE)
      const standby = await scene.standby(primary, SAFE)
      const store = scene.store(standby)
      expect(await findingOf(store, 'role')).toMatchObject({
        result: 'failed',
        found: expect.stringContaining('standby'),
      })
      await expect(granted(store, 'a')).rejects.toThrow('connect to the primary')
      expect(await troublesOf(scene.store(primary))).toEqual(['replication: warning'])
      await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await primary.query('SELECT pg_reload_conf()')
      await expect.poll(() => troublesOf(scene.store(primary)), { timeout: 5_000 }).toEqual([])
    })
  })

  it('whose transactions are read-only by default is named', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server(SAFE)
      await server.query(`ALTER ROLE ${server.user} SET default_transaction_read_only = on`)
      expect(await findingOf(scene.store(server), 'role')).toMatchObject({ setting: 'default_transaction_read_only' })
    })
  })

  it('without fsync gets a warning', async () => {
    await Scene.play(async (scene) => {
      expect(await findingOf(scene.store(await scene.server()), 'durability')).toMatchObject({
        result: 'warning',
        setting: 'fsync, full_page_writes',
      })
    })
  })

  it.each([postgresJs, singleClient])('is checked over $name, whose transactions are not touched', async ({ open }) => {
    await Scene.play(async (scene) => {
      const server = await scene.server(SAFE)
      const { client, end } = await open(server.url)
      scene.atEnd(end)
      if (client instanceof Client) await client.query('begin')
      expect(await troublesOf(storeOn(scene, client))).toContain('transactions: unknown')
      if (client instanceof Client) {
        // The time of a transaction stands still until its end.
        const { rows } = await client.query('select now() < statement_timestamp() as open')
        expect(rows).toEqual([{ open: true }])
      }
    })
  })

  it('that waiters may not listen to is checked without', async () => {
    await Scene.play(async (scene) => {
      const store = scene.store(await scene.server(SAFE), { listen: false })
      expect(await findingOf(store, 'notifications')).toEqual({
        check: 'notifications',
        result: 'ok',
        found: 'turned off: waiters poll',
      })
    })
  })

  it('that is down, or does not know the user, rejects as an operation does', async () => {
    await Scene.play(async (scene) => {
      const server = await PostgresServer.start({ ...SAFE, password: 'open sesame' })
      scene.atEnd(() => server.stop())
      const stranger = scene.pool(server, { password: 'wrong' })
      await expect(scene.store(stranger).probe(never)).rejects.toMatchObject({ code: 'unauthorised' })
      await server.kill()
      const pool = scene.pool(server, { password: 'open sesame' })
      await expect(scene.store(pool).probe(never)).rejects.toMatchObject({ code: 'unavailable' })
    })
  })
})

describePgBouncer('behind a PgBouncer', () => {
  it.each([
    ['session', []],
    ['transaction', ['notifications: warning']],
    ['statement', ['transactions: warning', 'notifications: warning']],
  ] as const)('in %s mode, the check finds %j', async (poolMode, troubles) => {
    await Scene.play(async (scene) => {
      const bouncer = await scene.bouncer(await scene.server(SAFE), { poolMode })
      const store = scene.store(bouncer)
      expect(await troublesOf(store)).toEqual(troubles)
      // The store itself needs one statement for each operation.
      await granted(store, 'a')
    })
  })

  it('in statement mode, tables are created, waiters are granted, and a guard never runs without its transaction', async () => {
    await Scene.play(async (scene) => {
      const server = await PostgresServer.start(SAFE)
      scene.atEnd(() => server.stop())
      const bouncer = await scene.bouncer(server, { poolMode: 'statement' })
      const bounced = scene.pool(bouncer)
      await migrate(bounced, { schema: scene.schema })
      const [anna, ben] = [scene.player('anna', scene.store(bounced)), scene.player('ben', scene.store(bounced))]
      expect(await anna.lease.acquire()).toBe(true)
      const waiting = ben.lease.acquire({ wait: 60_000 })
      const { fencingToken } = anna.lease
      const client = new Client({ connectionString: bouncer.url })
      client.on('error', () => {})
      await client.connect()
      await expect(client.query('begin')).rejects.toThrow('transaction blocks not allowed')
      const alone = new Client({ connectionString: bouncer.url })
      scene.atEnd(() => alone.end())
      await alone.connect()
      await expect(new PostgresGuard().transactUnderLease('job', fencingToken, alone)).rejects.toThrow('begin one')
      await anna.lease.release()
      expect(await waiting).toBe(true)
      expect(ben.lease.fencingToken).toBeGreaterThan(fencingToken ?? 0n)
      expect([anna.overlaps, ben.overlaps]).toEqual([[], []])
      await ben.lease.release()
    })
  })
})
