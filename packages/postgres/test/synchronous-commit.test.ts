import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Grant, LeaseRecord } from '@leasehold/core'
import type { PostgresLeaseStore } from '@leasehold/postgres'
import { describePgBouncer, describePostgres } from '@leasehold/testing/describe-postgres'
import { granted, never } from '@leasehold/testing/job-claims'
import type { PostgresServer } from '@leasehold/testing/postgres-server'
import { describe, expect, it } from 'vitest'
import { type Reachable, Scene } from './support/scene.js'

/** The server writes a commit that nobody waits for after so long: a crash before that loses it. */
const LAZY = { wal_writer_delay: '10s' }

const NAMES = Array.from({ length: 40 }, (_, place) => `name ${place}`)

/** Uses the store, which has granted all names. */
type Act = (store: PostgresLeaseStore, grants: readonly Grant[]) => Promise<unknown>

const grants = (store: PostgresLeaseStore): Promise<Grant[]> =>
  Promise.all(NAMES.map((name) => granted(store, `of ${name}`, { name, ttl: 3_600_000 })))

const acts: Readonly<Record<string, Act>> = {
  'grants of a batch': async () => {},
  'a grant': async (store) => await granted(store, 'alone', { name: 'alone' }),
  'a grant to a waiter': async (store, [first]) => {
    if (first === undefined) return
    await store.acquire({ ...first, grantId: 'waiting', queue: true }, never)
    await store.release(first, never)
    await store.acquire({ ...first, grantId: 'waiting', queue: true }, never)
  },
  // Few, so that they share a statement: one of releases alone may be undone.
  'a grant among releases': async (store, all) => {
    const releases = all.slice(0, 10).map((grant) => store.release(grant, never))
    await Promise.all([...releases, granted(store, 'among', { name: 'among' })])
  },
  'a heartbeat': async (store, [first]) => first && (await store.renew(first, never)),
  'heartbeats of many leases': async (store, all) => await store.renewMany(all, never),
  metadata: async (store, [first]) => first && (await store.update(first, { at: 'here' }, never)),
  'the metadata of a release': async (store, [first]) => first && (await store.release(first, never, { at: 'end' })),
  'a hand-off': async (store, [first]) =>
    first && (await store.change(first, { grantId: 'next', owner: 'boris' }, never)),
  'a break': async (store, [first]) => first && (await store.break(first.name, { period: 0 }, never)),
  'the release of a lease without expiry': async (store) => {
    const endless = await granted(store, 'endless', { name: 'endless', ttl: Number.POSITIVE_INFINITY })
    await store.release(endless, never)
  },
}

async function recordsOf(store: PostgresLeaseStore): Promise<Partial<LeaseRecord>[]> {
  const records: Partial<LeaseRecord>[] = []
  for await (const { remaining: _, waiters: __, ...record } of store.list('', never)) records.push(record)
  return records
}

/** A server whose clients do not wait for the disk, unless their transaction asks for it. */
async function lazyServer(scene: Scene, alter: string): Promise<PostgresServer> {
  const server = await scene.server({ settings: LAZY })
  await server.query(`${alter} set synchronous_commit = off`)
  await server.query('select pg_reload_conf()')
  return server
}

/** The acts that a crash of the server has undone, in part or as a whole, although they were confirmed. */
async function undone(
  server: PostgresServer,
  scene: Scene,
  way: Reachable,
  some: readonly string[],
): Promise<string[]> {
  const lost: string[] = []
  for (const title of some) {
    await server.query('delete from leasehold.leases')
    const store = scene.store(way, { listen: false })
    await answered(store)
    await acts[title]?.(store, await grants(store))
    const before = await recordsOf(store)
    await server.restart()
    await store.close()
    if (!isDeepStrictEqual(await recordsOf(scene.store(server)), before)) lost.push(title)
  }
  return lost
}

/** After a restart, PgBouncer refuses the first clients if it has asked the server too early. */
async function answered(store: PostgresLeaseStore): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await store.read('any', never)
      return
    } catch (error) {
      if (tries === 100) throw error
      await pause(100)
    }
  }
}

describePostgres('with synchronous_commit = off', () => {
  describe.concurrent('', () => {
    it.each([
      ['the server', 'alter system', Object.keys(acts)],
      ['the role', 'alter role postgres', ['a grant', 'grants of a batch', 'a heartbeat']],
      ['the database', 'alter database postgres', ['a grant', 'metadata']],
    ])('of %s, a crash undoes nothing that was confirmed', async (_, alter, some) => {
      await Scene.play(async (scene) => {
        const server = await lazyServer(scene, alter)
        expect(await undone(server, scene, server, some)).toEqual([])
      })
    })
  })
})

describePostgres('with synchronous_commit = off, each operation', () => {
  it('is still one statement', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server({ settings: { log_statement: 'all', synchronous_commit: 'off' } })
      const store = scene.store(server)
      const statements = () => server.log.split('statement: select "leasehold"."leases_run_1"').length - 1
      const others = () => server.log.split('statement: ').length - 1 - statements()
      const before = others()
      const grant = await granted(store, 'a grant')
      await store.renew(grant, never)
      await store.update(grant, { at: 'here' }, never)
      await store.release(grant, never)
      expect([statements(), others() - before]).toEqual([4, 0])
    })
  })
})

describePgBouncer('with synchronous_commit = off of the server, behind a PgBouncer', () => {
  it('a crash undoes nothing that was confirmed', async () => {
    await Scene.play(async (scene) => {
      const server = await lazyServer(scene, 'alter system')
      const bouncer = await scene.bouncer(server, { poolMode: 'transaction' })
      expect(await undone(server, scene, bouncer, ['a grant', 'grants of a batch', 'a heartbeat'])).toEqual([])
    })
  })
})

describePostgres('a transaction of the store', () => {
  it.each([
    ['off', 'on'],
    ['local', 'local'],
    ['remote_write', 'remote_write'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('under synchronous_commit = %s commits under %s, and leaves the session as it was', async (given, used) => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const client = await scene.pool(server, { max: 1 }).connect()
      client.on('error', () => {})
      const levelOf = async () => (await client.query('show synchronous_commit')).rows[0].synchronous_commit
      await client.query(`set synchronous_commit = ${given}`)
      const operation = ['acquire', 'job', 'a grant', 'anna', 60_000, null, false, null]
      const run = () => client.query('select leasehold.leases_run_1($1, 1000)', [JSON.stringify([operation])])
      await client.query('begin')
      await run()
      expect(await levelOf()).toBe(used)
      await client.query('commit')
      await run()
      expect(await levelOf()).toBe(given)
      client.release()
    })
  })
})
