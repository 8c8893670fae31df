import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LeaseUnauthorisedError } from '@leasehold/core'
import { migrate, migrations, PostgresGuard, PostgresLeaseStore } from '@leasehold/postgres'
import { temporaryFolder } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { granted, never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { build } from 'esbuild'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'

describePostgres('migrate', () => {
  let server: PostgresServer
  let owner: Pool

  beforeAll(async () => {
    server = await PostgresServer.start()
    owner = poolTo(server)
  })

  afterAll(async () => {
    await owner.end()
    await server.stop()
  })

  /** All operations of a store, over an own pool. */
  async function useAll(pool: Pool, names: { schema: string; table?: string }): Promise<void> {
    const store = new PostgresLeaseStore(pool, { ...names, listen: false })
    const grant = await granted(store, 'first', { ttl: 60_000 })
    await store.acquire({ ...grant, grantId: 'second', queue: true }, never)
    expect(await store.renew(grant, never)).toEqual({ renewed: true })
    expect(await store.update(grant, { at: 'here' }, never)).toEqual({ renewed: true })
    expect(await store.raiseToken(grant, grant.fencingToken, never)).toEqual({ renewed: true })
    expect(await store.read('job', never)).toMatchObject({ metadata: { at: 'here' }, waiters: 1 })
    const { value: watched } = await store.watch('other', never).next()
    expect(watched).toBeUndefined()
    const many = await Promise.all(['a', 'b', 'c'].map((name) => granted(store, `of ${name}`, { name })))
    await Promise.all(many.map((one) => store.release(one, never)))
    const listed: string[] = []
    for await (const { name } of store.list('', never)) listed.push(name)
    expect(listed).toEqual(['a', 'b', 'c', 'job'])
    const client = await pool.connect()
    await client.query('begin')
    const guard = new PostgresGuard(names)
    await guard.transactUnderLease(grant.name, grant.fencingToken, client)
    await guard.transact('accounts', grant.fencingToken, client)
    await client.query('commit')
    client.release()
    await store.withdraw('job', 'second', never)
    const changed = await store.change(grant, { grantId: 'third', owner: 'boris' }, never)
    if (!changed.granted) throw new Error('refused')
    expect(await store.release(changed.grant, never)).toEqual({ released: true })
    await granted(store, 'fourth')
    expect(await store.break('job', { period: 0 }, never)).toEqual({ remaining: 0 })
    await store.close()
  }

  it('works in a bundle, which has no files beside it', async (context) => {
    const bundle = join(temporaryFolder(context), 'bundle.mjs')
    await build({
      entryPoints: [new URL('./programs/migrated.ts', import.meta.url).pathname],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@leasehold/source'],
      external: ['pg-native'],
      banner: {
        js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
      },
    })
    const { stdout } = await promisify(execFile)(process.execPath, [bundle, server.url])
    expect(stdout).toBe('true')
  })

  it.each([
    { schema: 'a$$b' },
    { schema: 'a$b', table: 'c$$d' },
    { schema: 'leases', table: 'leasehold' },
    { schema: 'a_leases', table: 'leases_leases' },
    { schema: 'ends$', table: 'ends$$' },
    { schema: '_$1', table: '_$$$$_' },
  ])('takes names as they are: $schema, $table', async (names) => {
    await migrate(owner, names)
    await migrate(owner, names)
    const found = await server.query('select tablename from pg_tables where schemaname = $1', [names.schema])
    const { table = 'leases' } = names
    expect(found.map(({ tablename }) => tablename).sort()).toEqual(
      [table, `${table}_fences`, `${table}_migrations`, `${table}_waiters`].sort(),
    )
    await useAll(owner, names)
    for (const { sql } of await migrations(names)) await server.query(sql)
  })

  describe('by a role with few rights', () => {
    let roles = 0

    /** A new role, with these rights in a schema that has its name. */
    async function poolOfRole(...rights: readonly string[]): Promise<{ schema: string; pool: Pool }> {
      roles += 1
      const schema = `role${roles}`
      await server.query(`create role ${schema} login`)
      for (const right of rights) await server.query(right.replaceAll('$role', schema))
      return { schema, pool: poolTo(server, { user: schema, max: 2 }) }
    }

    it.each([
      ['CREATE on the database', ['grant create on database postgres to $role']],
      ['USAGE and CREATE on an empty schema', ['create schema $role', 'grant usage, create on schema $role to $role']],
    ])('needs no more than %s', async (_, rights) => {
      const { schema, pool } = await poolOfRole(...rights)
      await migrate(pool, { schema })
      await useAll(pool, { schema })
      await pool.end()
    })

    it.each([
      ['no right', []],
      ['USAGE on the schema', ['create schema $role', 'grant usage on schema $role to $role']],
      ['CREATE on the schema', ['create schema $role', 'grant create on schema $role to $role']],
    ])('with %s, it rejects and names the rights that it needs', async (_, rights) => {
      const { schema, pool } = await poolOfRole(...rights)
      const error = await migrate(pool, { schema }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LeaseUnauthorisedError)
      expect(String(error)).toContain('CREATE on the database')
      expect(String(error)).toContain('USAGE and CREATE on the schema')
      expect(String(error)).not.toContain('SELECT, INSERT, UPDATE and DELETE')
      await pool.end()
    })

    it('tables of an older version are brought up to date by their owner only', async () => {
      const { schema, pool } = await poolOfRole('create schema $role', 'grant usage, create on schema $role to $role')
      const [first] = await migrations({ schema })
      await server.query(first?.sql ?? '')
      await server.query(`grant all on all tables in schema ${schema} to ${schema}`)
      await server.query((await migrations({ schema }))[1]?.sql ?? '')
      await server.query(`delete from ${schema}.leases_migrations where version > 1`)
      const error = await migrate(pool, { schema }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LeaseUnauthorisedError)
      expect(String(error)).toContain('own')
      await pool.end()
    })

    it('the rights of the store are enough where the tables are up to date', async () => {
      const { schema, pool } = await poolOfRole()
      await migrate(owner, { schema })
      await server.query(`grant usage on schema ${schema} to ${schema}`)
      await server.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${schema}`)
      await migrate(pool, { schema })
      await useAll(pool, { schema })
      await pool.end()
    })

    it.each([
      ['a table without SELECT', 'revoke select on all tables in schema $role from $role'],
      ['functions without EXECUTE', 'revoke execute on all functions in schema $role from public'],
    ])('the store names its rights where it meets %s', async (_, revoke) => {
      const { schema, pool } = await poolOfRole()
      await migrate(owner, { schema })
      await server.query(`grant usage on schema ${schema} to ${schema}`)
      await server.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${schema}`)
      await server.query(revoke.replaceAll('$role', schema))
      const store = new PostgresLeaseStore(pool, { schema })
      const error = await store.read('job', never).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LeaseUnauthorisedError)
      expect(String(error)).toContain('SELECT, INSERT, UPDATE and DELETE')
      await store.close()
      await pool.end()
    })
  })

  it('fences rows in a table with dollars in its name', async () => {
    await migrate(owner)
    await owner.query('create table "a$$b" (id int, fencing_token bigint)')
    await owner.query('insert into "a$$b" values (1, 1)')
    const client = await owner.connect()
    await client.query('begin')
    expect(await new PostgresGuard().transactRows('"a$$b"', 5n, client, { where: { id: 1 } })).toBe(1)
    await client.query('commit')
    client.release()
  })
})
