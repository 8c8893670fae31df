import { createLease, LeaseConfigurationError } from '@leasehold/core'
import { migrate, migrations, PostgresLeaseStore } from '@leasehold/postgres'
import { silentLogger } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FOREVER, Scene } from '../support/scene.js'

describePostgres('the tables', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start()
  })

  afterAll(() => server?.stop())

  const play = (act: (scene: Scene) => Promise<void>): Promise<void> => Scene.play(act, server)

  describe.concurrent('', { timeout: 60_000 }, () => {
    it('are made once when 20 processes migrate at the same time, with leases that go on', async () => {
      await play(async (scene) => {
        const schema = `${scene.schema}_new`
        const pools = Array.from({ length: 20 }, () => scene.pool(server, { max: 1 }))
        await Promise.all(pools.map((pool) => migrate(pool, { schema })))
        const all = await migrations({ schema })
        const versions = await server.query(`SELECT version FROM ${schema}.leases_migrations ORDER BY version`)
        expect(versions).toEqual(all.map(({ version }) => ({ version })))
        const store = scene.store(server, { schema })
        const grant = await granted(store, 'a')
        await Promise.all(pools.map((pool) => migrate(pool, { schema })))
        expect(await store.renew(grant, never)).toEqual({ renewed: true })
      })
    })

    it('of a newer version are left as they are, and serve this version too', async () => {
      await play(async (scene) => {
        const { schema } = scene
        // As a later version may change them: more columns, more functions, and a larger version.
        await server.query(`
          ALTER TABLE ${schema}.leases ADD COLUMN note text, ADD COLUMN weight int NOT NULL DEFAULT 1;
          ALTER TABLE ${schema}.leases_waiters ADD COLUMN weight int NOT NULL DEFAULT 1;
          CREATE FUNCTION ${schema}.leases_acquire_2(p_name text) RETURNS text LANGUAGE sql AS 'SELECT p_name';
          INSERT INTO ${schema}.leases_migrations (version) VALUES (1000)`)
        await migrate(scene.pool(server), { schema })
        const columns = await server.query(
          `SELECT FROM information_schema.columns WHERE table_schema = '${schema}' AND column_name = 'weight'`,
        )
        expect(columns.length).toBe(2)
        const [a, b] = [scene.player('a', scene.store(server)), scene.player('b', scene.store(server))]
        await a.lease.acquire()
        const waiting = b.lease.acquire(FOREVER)
        expect(await a.lease.renew()).toBe(true)
        await a.lease.release()
        expect(await waiting).toBe(true)
        expect(b.lease.fencingToken).toBeGreaterThan(0n)
      })
    })

    it('of an older version are brought up to date while clients hold leases in them', async () => {
      await play(async (scene) => {
        const schema = `${scene.schema}_old`
        const [first, ...later] = await migrations({ schema })
        await server.query(first?.sql ?? '')
        expect(later.length).toBeGreaterThan(0)
        const token = 42
        // A lease that a client of the older version holds.
        await server.query(
          `INSERT INTO ${schema}.leases (fencing_token, ttl, granted_at, locked_until, state, name, grant_id, owner)
             VALUES (${token}, 60000, clock_timestamp(), clock_timestamp() + interval '60 s', 'leased', 'job', 'old', 'old')`,
        )
        await migrate(scene.pool(server), { schema })
        const store = scene.store(server, { schema })
        expect(await store.acquire(claimOf('new'), never)).toMatchObject({ granted: false, holder: { owner: 'old' } })
        const old = { ...claimOf('old'), fencingToken: BigInt(token), ttl: 60_000 }
        expect(await store.renew(old, never)).toEqual({ renewed: true })
        expect(await store.release(old, never)).toMatchObject({ released: true })
        expect((await granted(store, 'new')).fencingToken).toBeGreaterThan(BigInt(token))
      })
    })

    it('of an older version raise no token, and say so, until they are brought up to date', async () => {
      await play(async (scene) => {
        const schema = `${scene.schema}_older`
        const all = await migrations({ schema })
        for (const { sql } of all) {
          // As it was before there was this operation.
          await server.query(sql.replace(/ *elsif v_operation = 'raise' then\n.*\n/, ''))
        }
        await server.query(
          `DROP FUNCTION ${schema}.leases_raise_2; DELETE FROM ${schema}.leases_migrations WHERE version > 7`,
        )
        const store = scene.store(server, { schema })
        const grant = await granted(store, 'held')
        const token = grant.fencingToken + 10n ** 12n
        const raise = () => store.raiseToken(grant, token, never)
        await expect(raise()).rejects.toBeInstanceOf(LeaseConfigurationError)
        await expect(raise()).rejects.toThrow(/raise of lease 'job' failed: .* too old: call migrate\(\)/)
        expect(await store.renew(grant, never)).toEqual({ renewed: true })
        expect(await store.read('job', never)).toMatchObject({ fencingToken: grant.fencingToken })
        await migrate(scene.pool(server), { schema })
        expect(await raise()).toEqual({ renewed: true })
        expect(await store.read('job', never)).toMatchObject({ fencingToken: token })
      })
    })

    it('of two schemas and two names are independent of each other on one server', async () => {
      await play(async (scene) => {
        const places = [
          { schema: scene.schema },
          { schema: scene.schema, table: 'other_leases' },
          { schema: `${scene.schema}_b` },
        ]
        const leases = await Promise.all(
          places.map(async (place) => {
            await migrate(scene.pool(server), place)
            const store = new PostgresLeaseStore(scene.pool(server), place)
            scene.atEnd(() => store.close())
            return createLease(store, 'job', { owner: JSON.stringify(place), logger: silentLogger })
          }),
        )
        for (const lease of leases) expect(await lease.acquire()).toBe(true)
        for (const lease of leases) expect((await lease.holder())?.owner).toBe(lease.settings.owner)
      })
    })
  })
})
