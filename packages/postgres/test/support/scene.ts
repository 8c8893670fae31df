import { randomUUID } from 'node:crypto'
import { migrate, PostgresLeaseStore, type PostgresLeaseStoreOptions } from '@leasehold/postgres'
import { PgBouncer, type PgBouncerOptions } from '@leasehold/testing/pg-bouncer'
import { PostgresServer, type PostgresServerOptions, type StandbyOptions } from '@leasehold/testing/postgres-server'
import { ServerScene } from '@leasehold/testing/server-scene'
import { Pool, type PoolConfig } from 'pg'
import { poolTo } from './pool-to.js'

/** Of the leases of a scene, unless others are given. */
export const TIMES = { heartbeatTimeout: 9_000, heartbeatInterval: 1_000, operationTimeout: 2_500 }

/** Waits without limit. */
export const FOREVER = { wait: Number.POSITIVE_INFINITY }

/** Where a client connects on this machine. */
export interface Reachable {
  readonly port: number
}

/** Servers, proxies, pools, stores and leases for one test, which may run beside others; all end with the test. */
export class Scene extends ServerScene {
  /** Of the tables. */
  readonly schema: string

  private constructor(schema: string) {
    super(TIMES)
    this.schema = schema
  }

  /** With tables of its own on a server that other tests use too; without one, the scene starts servers. */
  static async play(act: (scene: Scene) => Promise<void>, server?: PostgresServer): Promise<void> {
    const scene = new Scene(server === undefined ? 'leasehold' : `scene_${randomUUID().replaceAll('-', '')}`)
    await ServerScene.playIn(scene, async () => {
      if (server !== undefined) await migrateOn(server, scene.schema)
      await act(scene)
    })
  }

  /** A server of its own, with the tables of the leases. */
  async server(options?: PostgresServerOptions): Promise<PostgresServer> {
    const server = await this.ending(PostgresServer.start(options))
    await migrateOn(server, this.schema)
    return server
  }

  standby(primary: PostgresServer, options?: StandbyOptions): Promise<PostgresServer> {
    return this.ending(primary.standby(options))
  }

  bouncer(server: PostgresServer, options?: PgBouncerOptions): Promise<PgBouncer> {
    return this.ending(PgBouncer.start(server, options))
  }

  /** The pool of a user, who listens to its errors as `pg` demands. */
  pool({ port }: Reachable, options: PoolConfig = {}): Pool {
    const pool = poolTo({ port }, options)
    this.atEnd(async () => {
      // A connection that hangs would never end.
      void pool.end().catch(() => {})
    })
    return pool
  }

  /** On a pool of its own, unless a pool is given. */
  store(way: Reachable | Pool, options?: PostgresLeaseStoreOptions): PostgresLeaseStore {
    const pool = way instanceof Pool ? way : this.pool(way)
    const store = new PostgresLeaseStore(pool, { schema: this.schema, ...options })
    this.atEnd(() => store.close())
    return store
  }
}

/** Makes the tables and functions on a server. */
async function migrateOn({ port }: Reachable, schema: string): Promise<void> {
  const pool = poolTo({ port })
  try {
    await migrate(pool, { schema })
  } finally {
    await pool.end()
  }
}
