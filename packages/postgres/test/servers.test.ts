import { existsSync } from 'node:fs'
import { eventually } from '@leasehold/testing'
import { describePgBouncer, describePostgres } from '@leasehold/testing/describe-postgres'
import { PgBouncer } from '@leasehold/testing/pg-bouncer'
import { PostgresServer, type PostgresServerOptions } from '@leasehold/testing/postgres-server'
import { TcpProxy } from '@leasehold/testkit'
import { Client } from 'pg'
import { it } from 'vitest'

/** Starts something, and stops it after its use. */
async function during<T extends { stop(): Promise<void> }>(
  start: Promise<T>,
  use: (started: T) => Promise<void>,
): Promise<void> {
  const started = await start
  try {
    await use(started)
  } finally {
    await started.stop()
  }
}

function withServer(options: PostgresServerOptions, use: (server: PostgresServer) => Promise<void>): Promise<void> {
  return during(PostgresServer.start(options), use)
}

async function answerOver(connectionString: string, ca?: string): Promise<unknown> {
  const tls = ca === undefined ? {} : { ssl: { ca } }
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000, query_timeout: 1_000, ...tls })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query('SELECT 1 AS answer')).rows[0].answer
  } finally {
    void client.end().catch(() => {})
  }
}

describePostgres('a PostgreSQL of the tests', () => {
  it.concurrent('answers, and leaves no folder when it has stopped', async ({ expect }) => {
    const server = await PostgresServer.start()
    expect(await answerOver(server.url)).toBe(1)
    expect(existsSync(server.dir)).toBe(true)
    await server.stop()
    expect(existsSync(server.dir)).toBe(false)
    await expect(answerOver(server.url)).rejects.toThrow('ECONNREFUSED')
  })

  it.concurrent('hangs while it is frozen, also for connections that exist', async ({ expect }) => {
    await withServer({}, async (server) => {
      const client = new Client({ connectionString: server.url })
      client.on('error', () => {})
      await client.connect()
      server.freeze()
      await expect(client.query({ text: 'SELECT 1', query_timeout: 500 } as never)).rejects.toThrow('timeout')
      await expect(answerOver(server.url)).rejects.toThrow('timeout')
      server.thaw()
      expect(await answerOver(server.url)).toBe(1)
      await client.end()
    })
  })

  it.concurrent('keeps all that it has confirmed when it is killed, frozen or not', async ({ expect }) => {
    await withServer({}, async (server) => {
      await server.query('CREATE TABLE kept (n int)')
      const { pid, port } = server
      for (const n of [1, 2, 3]) {
        await server.query('INSERT INTO kept VALUES ($1)', [n])
        if (n === 2) server.freeze()
        await server.restart()
      }
      expect(await server.query('SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
      expect([server.pid === pid, server.port]).toEqual([false, port])
    })
  })

  it.concurrent('requires a password and TLS if configured', async ({ expect }) => {
    await withServer({ password: "a b'c", tls: true }, async (server) => {
      expect(await answerOver(server.url, server.ca)).toBe(1)
      await expect(answerOver(server.url)).rejects.toThrow('pg_hba.conf')
      await expect(answerOver(server.url.replace('a%20b', 'wrong'), server.ca)).rejects.toThrow('password')
    })
  })

  it.concurrent('takes settings, and rejects with the reason if it does not start', async ({ expect }) => {
    await withServer({ settings: { default_transaction_isolation: 'serializable' } }, async (server) => {
      expect(await server.query('SHOW transaction_isolation')).toEqual([{ transaction_isolation: 'serializable' }])
    })
    await expect(PostgresServer.start({ settings: { no_such_thing: 1 } })).rejects.toThrow(
      /did not start.*no_such_thing/s,
    )
  })

  it.concurrent('ends the connections of its clients when asked', async ({ expect }) => {
    await withServer({}, async (server) => {
      const client = new Client({ connectionString: server.url, application_name: 'mine' })
      const ended = new Promise<Error>((resolve) => client.on('error', resolve))
      await client.connect()
      expect(await server.terminateBackends('another')).toBe(0)
      expect(await server.terminateBackends('mine')).toBe(1)
      expect((await ended).message).toContain('administrator command')
    })
  })

  it.concurrent('is followed by a standby, which is read-only until it is promoted', async ({ expect }) => {
    await withServer({}, async (primary) => {
      await primary.query('CREATE TABLE kept (n int)')
      await during(
        TcpProxy.to(primary.port).then((way) => Object.assign(way, { stop: () => way.close() })),
        async (way) => {
          await during(primary.standby({ through: way.port }), async (standby) => {
            await primary.query('INSERT INTO kept VALUES (1)')
            await eventually(
              'the row has arrived',
              async () => (await standby.query('SELECT * FROM kept')).length === 1,
            )
            await expect(standby.query('INSERT INTO kept VALUES (2)')).rejects.toThrow('read-only')
            way.blackHole()
            await primary.query('INSERT INTO kept VALUES (3)')
            await standby.promote()
            await standby.query('INSERT INTO kept VALUES (4)')
            expect(await standby.query('SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 4 }])
          })
        },
      )
    })
  })
})

describePgBouncer('a PgBouncer of the tests', () => {
  it.concurrent('gives connections to others after each transaction', async ({ expect }) => {
    await withServer({}, async (server) => {
      await during(PgBouncer.start(server, { poolSize: 1 }), async ({ url }) => {
        const [a, b] = [new Client({ connectionString: url }), new Client({ connectionString: url })]
        await Promise.all([a.connect(), b.connect()])
        const pids = []
        for (const client of [a, b]) pids.push((await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid)
        expect(pids[0]).toBe(pids[1])
        await Promise.all([a.end(), b.end()])
      })
    })
  })
})
