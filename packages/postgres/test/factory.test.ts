import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { LeaseConfigurationError, LeaseProvider, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { migrate, postgresLease } from '@leasehold/postgres'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer, type PostgresServerOptions } from '@leasehold/testing/postgres-server'
import { afterAll, describe, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'

const times = { 'heartbeat-timeout': '10s', 'heartbeat-interval': '2s', 'lease-operation-timeout': '2s' }

/** Resources of the tests. */
const begun: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const end of begun.reverse()) await end()
})

function provide(block: object): LeaseProvider {
  const provider = new LeaseProvider(
    { job: { 'lease-class': 'postgres', ...times, ...block } },
    { postgres: postgresLease },
  )
  begun.push(() => provider.close())
  return provider
}

async function acquired(block: object): Promise<boolean> {
  return await (await provide(block).getLease(`job ${randomUUID()}`, 'job')).acquire()
}

async function startServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const server = await PostgresServer.start(options)
  begun.push(() => server.stop())
  return server
}

describePostgres('a lease of a configuration', () => {
  it('is acquired by a URL, with others over one pool, which ends with the provider', async () => {
    const server = await startServer()
    const pool = poolTo(server)
    await migrate(pool, { schema: 'app', table: 'claims' })
    await pool.end()
    const provider = provide({ url: server.url, schema: 'app', table: 'claims', 'pool-size': 2 })
    const leases = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => provider.getLease(name, 'job')))
    expect(await Promise.all(leases.map((lease) => lease.acquire()))).toEqual(leases.map(() => true))
    const open = async () =>
      (await server.query(`select from pg_stat_activity where application_name = 'leasehold'`)).length
    expect(await open()).toBeLessThanOrEqual(2)
    await provider.close()
    // The pool of pg has ended when its connections have begun to.
    await eventually('all connections have ended', async () => (await open()) === 0)
  })

  it('is acquired with an advisory lock beside it', async () => {
    const server = await startServer()
    const pool = poolTo(server)
    await migrate(pool)
    await pool.end()
    expect(await acquired({ url: server.url, compat: 'pg-advisory-lock' })).toBe(true)
    expect(await server.query(`select from pg_locks where locktype = 'advisory' and granted`)).toHaveLength(1)
  })

  it('reads the PG variables where there is no URL', async () => {
    const server = await startServer()
    const pool = poolTo(server)
    await migrate(pool)
    await pool.end()
    const set = { PGHOST: '127.0.0.1', PGPORT: String(server.port), PGUSER: 'postgres', PGDATABASE: 'postgres' }
    const before = { ...process.env }
    Object.assign(process.env, set)
    try {
      expect(await acquired({})).toBe(true)
    } finally {
      process.env = before
    }
  })

  it('uses TLS and a password', async () => {
    const server = await startServer({ tls: true, password: 'secret' })
    const caFile = join(server.dir, 'trusted.pem')
    writeFileSync(caFile, server.ca ?? '')
    const pool = poolTo(server, { password: 'secret', ssl: { ca: server.ca ?? '' } })
    await migrate(pool)
    await pool.end()
    const url = `postgres://postgres@127.0.0.1:${server.port}/postgres`
    expect(await acquired({ url, password: 'secret', 'ca-file': caFile })).toBe(true)
    expect(await acquired({ url: server.url, password: 'ignored', 'ca-file': caFile })).toBe(true)
    expect(await acquired({ url: `${server.url}?sslmode=require`, 'ca-file': caFile })).toBe(true)
    await expect(acquired({ url, password: 'wrong', 'ca-file': caFile })).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    await expect(acquired({ url, password: 'secret' })).rejects.toThrow(/./)
  })

  describe('is rejected', () => {
    it.each([
      ['a URL of another kind', { url: 'http://secret@host' }, /url must be like postgres:/],
      ['a CA file that is not there', { 'ca-file': '/nowhere.pem' }, /ca-file cannot be read/],
      ['no connections', { 'pool-size': 0 }, /pool-size/],
      ['a URL for notifications that are off', { listen: 'off', 'listen-url': 'postgres://a/b' }, /listen-url/],
      ['a table that needs quotes', { table: 'a b' }, /table must be/],
    ])('with %s', async (_, block, message) => {
      const error = await acquired(block).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LeaseConfigurationError)
      expect((error as Error).message).toMatch(message)
      expect(inspect(error)).not.toContain('secret')
    })

    it('where there is no server', async () => {
      await expect(acquired({ url: 'postgres://postgres@127.0.0.1:1/postgres' })).rejects.toBeInstanceOf(
        LeaseUnavailableError,
      )
    })
  })
})
