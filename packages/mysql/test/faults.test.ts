import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, type LeaseLost, type StoreLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { type MysqlClient, MysqlLeaseStore, migrate } from '@leasehold/mysql'
import { eventually, silentLogger } from '@leasehold/testing'
import { describeMysql } from '@leasehold/testing/describe-mysql'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { TcpProxy } from '@leasehold/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimOf, granted, never } from './support/claims.js'
import { mariadbPoolTo, poolTo } from './support/libraries.js'

/** Of the leases, in milliseconds. */
const TIMES = { heartbeatTimeout: 6_000, heartbeatInterval: 700, operationTimeout: 1_500 }

/** A busy machine may need more than one attempt. */
const SOON = { wait: 30_000 }

/** Waits without limit. */
const FOREVER = { wait: Number.POSITIVE_INFINITY }

interface Player {
  readonly lease: StoreLease
  readonly losses: LeaseLost[]
  readonly events: string[]
}

/** Servers, pools and leases of one test; all end with it. */
class Scene {
  readonly name = randomUUID()
  readonly #ends: (() => unknown)[] = []

  static async play(act: (scene: Scene) => Promise<void>): Promise<void> {
    const scene = new Scene()
    try {
      await act(scene)
    } finally {
      for (const end of scene.#ends.reverse()) await end()
    }
  }

  atEnd(end: () => unknown): void {
    this.#ends.push(end)
  }

  store(client: MysqlClient): MysqlLeaseStore {
    const store = new MysqlLeaseStore(client)
    this.atEnd(() => store.close())
    return store
  }

  player(owner: string, to: { readonly port: number }, times: typeof TIMES = TIMES): Player {
    const pool = poolTo(to, { connectionLimit: 4, connectTimeout: 1_000 })
    // A connection that hangs would never end.
    this.atEnd(() => void pool.end().catch(() => {}))
    const lease = createLease(this.store(pool), this.name, { ...times, owner, logger: silentLogger })
    const player: Player = { lease, losses: [], events: [] }
    for (const event of ['renewed', 'jeopardy', 'recovered'] as const)
      lease.on(event, () => void player.events.push(event))
    lease.on('lost', (lost) => void player.losses.push(lost))
    return player
  }
}

describeMysql('a server', (kind) => {
  let server: MysqlServer

  beforeAll(async () => {
    server = await MysqlServer.start(kind)
    const pool = poolTo(server)
    await migrate(pool)
    await pool.end()
  })

  afterAll(() => server.stop())

  const withServer = (act: (scene: Scene, server: MysqlServer) => Promise<void>) =>
    Scene.play((scene) => act(scene, server))

  // One after the other: they kill and stop the same server.
  describe('', { timeout: 90_000 }, () => {
    it('that is killed and starts again: the holder keeps the lease, waiters their places', async () => {
      await withServer(async (scene, server) => {
        // A busy machine takes long to start a server.
        const times = { ...TIMES, heartbeatTimeout: 60_000 }
        const [a, b, c] = ['a', 'b', 'c'].map((owner) => scene.player(owner, server, times)) as [Player, Player, Player]
        await a.lease.acquire(SOON)
        const token = a.lease.fencingToken ?? 0n
        const served: string[] = []
        const turns: Promise<unknown>[] = []
        for (const { lease } of [b, c]) {
          turns.push(lease.acquire(FOREVER).then(() => served.push(lease.settings.owner)))
          await eventually('it waits', async () => (await a.lease.holder())?.waiters === turns.length)
        }
        await server.kill()
        await eventually('it is noticed', async () => a.events.includes('jeopardy'))
        expect(a.lease.checkLease()).toBe(true)
        await server.restart()
        await eventually('it is over', async () => a.events.includes('recovered'))
        expect([a.lease.checkLease(), a.lease.fencingToken, a.losses]).toEqual([true, token, []])
        await a.lease.release()
        await turns[0]
        expect(b.lease.fencingToken).toBeGreaterThan(token)
        await b.lease.release()
        await turns[1]
        expect(served).toEqual(['b', 'c'])
      })
    })

    it('that is frozen for longer than the ttl: the holder stops before another owner is granted', async () => {
      await withServer(async (scene, server) => {
        const [a, b] = [scene.player('a', server), scene.player('b', server)]
        await a.lease.acquire(SOON)
        const token = a.lease.fencingToken ?? 0n
        const waiting = b.lease.acquire(FOREVER)
        await eventually('a has renewed', async () => a.events.includes('renewed'))
        server.freeze()
        await sleep(TIMES.heartbeatTimeout + 500)
        expect([a.lease.checkLease(), b.lease.checkLease()]).toEqual([false, false])
        server.thaw()
        expect(await waiting).toBe(true)
        expect(b.lease.fencingToken).toBeGreaterThan(token)
        expect(a.losses.map(({ reason }) => reason)).toEqual(['expired'])
        expect(b.losses).toEqual([])
      })
    })

    it('whose way is cut or slow: the holder stops in time, goes on when it is healed, and no connection stays busy', async () => {
      await withServer(async (scene, server) => {
        const way = await TcpProxy.to(server.port)
        scene.atEnd(() => way.close())
        const [a, b] = [scene.player('a', way), scene.player('b', server)]
        await a.lease.acquire(SOON)
        way.slowDown(300)
        const before = a.events.length
        await eventually('it is renewed slowly', async () => a.events.length > before + 1)
        expect(a.losses).toEqual([])
        way.slowDown(0)
        way.blackHole()
        expect(await b.lease.acquire({ wait: 60_000 })).toBe(true)
        expect(a.lease.checkLease()).toBe(false)
        expect(a.losses.map(({ reason }) => reason)).toEqual(['expired'])
        way.heal()
        await b.lease.release()
        await eventually('a is granted again', async () => await a.lease.acquire().catch(() => false))
      })
    })

    it.each(['mysql2', 'mariadb'])(
      'that hangs: a call over %s ends when it is aborted, and later ones work',
      async (library) => {
        await withServer(async (scene, server) => {
          const pool = library === 'mysql2' ? poolTo(server) : mariadbPoolTo(server, { connectionLimit: 3 })
          scene.atEnd(() => void pool.end().catch(() => {}))
          const store = scene.store(pool)
          const grant = await granted(store)
          const renewed = async () => {
            const call = new AbortableCall(100)
            const renewing = store.renew(grant, call).catch((error: Error) => error.message)
            await sleep(100)
            call.abort(new Error('too late'))
            return await renewing
          }
          server.freeze()
          await eventually('it hangs', async () => (await renewed()) === 'too late')
          for (let attempt = 0; attempt < 6; attempt += 1) expect(await renewed()).toBe('too late')
          server.thaw()
          await eventually('it works again', async () => (await store.renew(grant, never)).renewed)
        })
      },
    )

    it('that restarts with an older copy of its rows: the later holder learns it, and tokens keep growing', async () => {
      await withServer(async (scene, server) => {
        const pool = poolTo(server)
        scene.atEnd(() => void pool.end().catch(() => {}))
        const store = scene.store(pool)
        const name = 'restored'
        const old = await granted(store, { name, ttl: 2_000 })
        await server.query("create table copy as select * from leasehold_leases where name = 'restored'")
        await store.release(old, never)
        const late = await granted(store, { name })
        await server.query("delete from leasehold_leases where name = 'restored'")
        await server.query('insert into leasehold_leases select * from copy')
        expect(await store.renew(late, never)).toMatchObject({ renewed: false, reason: 'taken' })
        await eventually('the copy has expired', async () => {
          const next = await store.acquire(claimOf({ name }), never)
          if (next.granted) expect(next.grant.fencingToken).toBeGreaterThan(late.fencingToken)
          return next.granted
        })
      })
    })

    it('that is a replica: refuses every operation, never answers from the past, and serves as the primary later', async () => {
      await Scene.play(async (scene) => {
        const primary = await MysqlServer.start(kind, { settings: { 'server-id': 1, 'log-bin': 'binlog' } })
        scene.atEnd(() => primary.stop())
        const wire = await TcpProxy.to(primary.port)
        scene.atEnd(() => wire.close())
        const replica = await primary.replica({ through: wire.port })
        scene.atEnd(() => replica.stop())
        // A user of replication is not read-only.
        await primary.query("create user 'app'@'%' identified by 'secret'")
        await primary.query("grant all on test.* to 'app'@'%'")
        const user = { user: 'app', password: 'secret' }
        const [pool, late] = [poolTo(primary, user), poolTo(replica, user)]
        for (const one of [pool, late]) scene.atEnd(() => void one.end().catch(() => {}))
        const [store, behind] = [scene.store(pool), scene.store(late)]
        const name = 'replicated'
        const first = await granted(store, { name })
        await eventually('the replica has the grant', async () => {
          const rows = await replica.query("select 1 from leasehold_leases where name = 'replicated'").catch(() => [])
          return rows.length === 1
        })
        const refused = { code: 'unavailable', message: expect.stringContaining('read-only') }
        await expect(behind.acquire(claimOf({ name }), never)).rejects.toMatchObject(refused)
        await expect(behind.acquire(claimOf(), never)).rejects.toMatchObject(refused)
        await expect(behind.renewMany([first], never)).rejects.toMatchObject(refused)
        await expect(behind.release(first, never)).rejects.toMatchObject(refused)
        await expect(behind.read(name, never)).rejects.toMatchObject(refused)
        wire.blackHole()
        await store.release(first, never)
        const second = await granted(store, { name })
        await primary.kill()
        await replica.promote()
        // The new primary knows neither the release nor the second grant.
        expect(await behind.renew(second, never)).toMatchObject({ renewed: false, reason: 'taken' })
        await behind.break(name, { period: 0 }, never)
        const third = await granted(behind, { name })
        expect(third.fencingToken).toBeGreaterThan(second.fencingToken)
      })
    })
  })
})
