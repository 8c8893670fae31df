import { LeaseConfigurationError, systemClock } from '@leasehold/core'
import { PostgresLeaseStore, type PostgresLeaseStoreOptions } from '@leasehold/postgres'
import { eventually } from '@leasehold/testing'
import { describePgBouncer, describePostgres } from '@leasehold/testing/describe-postgres'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Scene } from './support/scene.js'

const unused = new Pool({ host: '127.0.0.1', port: 1 })

describe('compat', () => {
  const storeWith = (compat: unknown) => () => new PostgresLeaseStore(unused, { compat } as PostgresLeaseStoreOptions)

  it('refuses a library that it does not know, an unknown option, and a key that is no function', () => {
    expect(storeWith('redlock')).toThrow(LeaseConfigurationError)
    expect(storeWith('redlock')).toThrow('compat must be pg-advisory-lock, not "redlock"')
    expect(storeWith(null)).toThrow(LeaseConfigurationError)
    expect(storeWith({ library: 'pg-advisory-lock', name: 1 })).toThrow("compat has no option 'name'")
    expect(storeWith({ library: 'pg-advisory-lock', key: 7 })).toThrow('key of compat must be a function')
  })

  it('needs a Pool of pg', () => {
    expect(() => new PostgresLeaseStore(new Client(), { compat: 'pg-advisory-lock' })).toThrow(
      'only a Pool of pg gives',
    )
  })

  it.each([undefined, 1.5, 2n ** 63n, [1], [1, 2 ** 31], ['a', 'b']])(
    'rejects the call whose key is %s, before anything is sent',
    async (key) => {
      const store = storeWith({ library: 'pg-advisory-lock', key: () => key })()
      await expect(store.read('job', never)).rejects.toThrow(LeaseConfigurationError)
      await expect(store.read('job', never)).rejects.toThrow('key of compat must return a bigint')
      await store.close()
    },
  )
})

describePostgres('a store with compat', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start()
  })

  afterAll(() => server.stop())

  const KEYS = [
    ['hashtext(name)', undefined, "hashtext('job')"],
    ['a text', () => "it's ? ü", "hashtext('it''s ? ü')"],
    ['a bigint', () => -(2n ** 62n) - 5n, '-4611686018427387909'],
    ['a number', () => 42, '42'],
    ['two numbers', () => [-7, 9] as const, '-7, 9'],
  ] as const

  interface Stage {
    readonly scene: Scene
    readonly store: PostgresLeaseStore
    /** An old process. */
    readonly old: Client
    tryOld(): Promise<boolean>
    freeOld(): Promise<void>
  }

  async function play(act: (stage: Stage) => Promise<void>, key?: (typeof KEYS)[number][1], sql = "hashtext('job')") {
    await Scene.play(async (scene) => {
      const old = new Client({ connectionString: server.url })
      await old.connect()
      scene.atEnd(() => old.end())
      const store = scene.store(server, { compat: { library: 'pg-advisory-lock', key } })
      const tryOld = async () => (await old.query(`select pg_try_advisory_lock(${sql}) as got`)).rows[0].got
      const freeOld = async () => void (await old.query(`select pg_advisory_unlock(${sql})`))
      await act({ scene, store, old, tryOld, freeOld })
    }, server)
  }

  it.each(KEYS)('and an old process exclude each other: %s', async (_, key, sql) => {
    await play(
      async ({ store, tryOld, freeOld }) => {
        const grant = await granted(store, 'g')
        expect(await tryOld()).toBe(false)
        expect(await store.release(grant, never)).toEqual({ released: true })
        expect(await tryOld()).toBe(true)
        const refused = await store.acquire(claimOf('h'), never)
        expect(refused).toMatchObject({ granted: false, holder: { owner: 'pg-advisory-lock' } })
        expect(await store.read('job', never)).toMatchObject({ owner: 'pg-advisory-lock', state: 'leased' })
        await freeOld()
        await granted(store, 'i')
      },
      key,
      sql,
    )
  })

  it('grants nothing while an old process has the lock: each grant given back would wake the next waiter', async () => {
    await play(async ({ scene, store, tryOld, freeOld }) => {
      expect(await tryOld()).toBe(true)
      expect(await store.acquire(claimOf('g'), never)).toMatchObject({ granted: false })
      expect(await scene.store(server).read('job', never)).toBeUndefined()
      await freeOld()
    })
  })

  it('holds the lock once for a claim that is repeated', async () => {
    await play(async ({ store, tryOld }) => {
      const grant = await granted(store, 'g')
      await granted(store, 'g')
      await store.release(grant, never)
      expect(await tryOld()).toBe(true)
    })
  })

  it('loses a lease whose session has ended, and frees it', async () => {
    await play(async ({ store, old, tryOld, freeOld }) => {
      const grant = await granted(store, 'g')
      expect(await store.renew(grant, never)).toEqual({ renewed: true })
      await old.query(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()",
      )
      await eventually('the lock to be free', tryOld)
      expect(await store.renew(grant, never)).toEqual({ renewed: false, reason: 'deleted' })
      expect(await store.acquire(claimOf('h'), never)).toMatchObject({ granted: false })
      await freeOld()
      await granted(store, 'h')
    })
  })

  it('loses a lease whose session has ended, also when its token is raised', async () => {
    await play(async ({ store, old, tryOld, freeOld }) => {
      const grant = await granted(store, 'g')
      const token = grant.fencingToken + 10n ** 15n
      expect(await store.raiseToken(grant, token, never)).toEqual({ renewed: true })
      await old.query(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()",
      )
      await eventually('the lock to be free', tryOld)
      expect(await store.raiseToken(grant, 2n * token, never)).toEqual({ renewed: false, reason: 'deleted' })
      await freeOld()
      expect((await granted(store, 'h')).fencingToken).toBe(token + 1n)
    })
  })

  it('keeps a broken lease over when a late duplicate of its claim arrives, and frees both', async () => {
    await play(async ({ store, tryOld }) => {
      const grant = await granted(store, 'g')
      await store.break('job', { period: 0 }, never)
      const late = await granted(store, 'g')
      expect(late.fencingToken).toBeGreaterThan(grant.fencingToken)
      expect(await store.renew(grant, never)).toEqual({ renewed: false, reason: 'expired', left: true })
      expect(await store.release(grant, never)).toEqual({ released: true })
      expect(await tryOld()).toBe(true)
    })
  })

  it('frees the lock of a lease that another has taken, or that was broken', async () => {
    await play(async ({ store, tryOld }) => {
      const grant = await granted(store, 'g')
      await store.break('job', { period: 0 }, never)
      expect(await tryOld()).toBe(false)
      expect(await store.renew(grant, never)).toMatchObject({ renewed: false, reason: 'broken' })
      expect(await tryOld()).toBe(true)
    })
  })

  it('frees the lock when the ttl has passed without a heartbeat', async () => {
    await play(async ({ store, tryOld }) => {
      await granted(store, 'g', { ttl: 100 })
      await eventually('the lock to be free', tryOld)
    })
  })

  it('ends the session with the store', async () => {
    await play(async ({ store, tryOld }) => {
      await granted(store, 'g')
      await store.close()
      await eventually('the lock to be free', tryOld)
    })
  })

  it('refuses to hand a lease off', async () => {
    await play(async ({ store }) => {
      const grant = await granted(store, 'g')
      await expect(store.change(grant, { grantId: 'h', owner: 'bert' }, never)).rejects.toThrow(LeaseConfigurationError)
    })
  })

  it('lets a waiter in soon after the old process has freed the lock, which notifies nobody', async () => {
    await play(async ({ scene, store, tryOld, freeOld }) => {
      expect(await tryOld()).toBe(true)
      const { lease } = scene.player('anna', store)
      const acquired = lease.acquire({ wait: 60_000 })
      await new Promise<void>((resolve) => systemClock.schedule(300, resolve))
      expect(lease.checkLease()).toBe(false)
      await freeOld()
      const from = systemClock.now()
      expect(await acquired).toBe(true)
      expect(systemClock.now() - from).toBeLessThan(10_000)
    })
  })
})

describePgBouncer('a store with compat behind a PgBouncer', () => {
  it.each(['transaction', 'session'] as const)(
    'in %s mode: is refused, until listen leads to the server',
    async (poolMode) => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const bouncer = await scene.bouncer(server, { poolMode })
        const store = scene.store(bouncer, { compat: 'pg-advisory-lock' })
        const claim = store.acquire(claimOf('g'), never)
        await expect(claim).rejects.toThrow(LeaseConfigurationError)
        await expect(claim).rejects.toThrow('leads to the server itself')
        const good = scene.store(bouncer, { compat: 'pg-advisory-lock', listen: scene.pool(server) })
        await granted(good, 'h')
      })
    },
  )
})
