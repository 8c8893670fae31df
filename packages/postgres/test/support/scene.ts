import { randomUUID } from 'node:crypto'
import {
  type CreateLeaseOptions,
  createLease,
  type Grant,
  type LeaseLost,
  type LeaseStore,
  type StoreLease,
  systemClock,
} from '@leasehold/core'
import { AbortableCall, type AcquireRequest, type StoreCall } from '@leasehold/core/store'
import { migrate, PostgresLeaseStore, type PostgresLeaseStoreOptions } from '@leasehold/postgres'
import { silentLogger } from '@leasehold/testing'
import { PgBouncer, type PgBouncerOptions } from '@leasehold/testing/pg-bouncer'
import { PostgresServer, type PostgresServerOptions, type StandbyOptions } from '@leasehold/testing/postgres-server'
import { TcpProxy } from '@leasehold/testkit'
import { Pool, type PoolConfig } from 'pg'
import { poolTo } from './pool-to.js'

/** Of the leases of a scene, unless others are given. */
export const TIMES = { heartbeatTimeout: 9_000, heartbeatInterval: 1_000, operationTimeout: 2_500 }

/** Waits without limit. */
export const FOREVER = { wait: Number.POSITIVE_INFINITY }

/** Never aborted. */
export const never = new AbortableCall()

/** A lease and its history. */
export interface Player {
  readonly lease: StoreLease
  readonly losses: LeaseLost[]
  /** The names of its events, in order. */
  readonly events: string[]
  /** The causes of its jeopardies. */
  readonly troubles: unknown[]
  /** The other valid holders when it was granted: there must be none. */
  readonly overlaps: string[]
}

/** Where a client connects on this machine. */
export interface Reachable {
  readonly port: number
}

/** Servers, proxies, pools, stores and leases for one test, which may run beside others; all end with the test. */
export class Scene {
  /** Of the tables. */
  readonly schema: string
  readonly #ends: (() => Promise<unknown>)[] = []
  readonly #players: Player[] = []

  private constructor(schema: string) {
    this.schema = schema
  }

  /** With tables of its own on a server that other tests use too; without one, the scene starts servers. */
  static async play(act: (scene: Scene) => Promise<void>, server?: PostgresServer): Promise<void> {
    const scene = new Scene(server === undefined ? 'leasehold' : `scene_${randomUUID().replaceAll('-', '')}`)
    try {
      if (server !== undefined) await migrateOn(server, scene.schema)
      await act(scene)
    } finally {
      for (const end of scene.#ends.reverse()) await end()
    }
  }

  /** Registers work for the end, in reverse order. */
  atEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end)
  }

  /** A server of its own, with the tables of the leases. */
  async server(options?: PostgresServerOptions): Promise<PostgresServer> {
    const server = await this.#ending(PostgresServer.start(options))
    await migrateOn(server, this.schema)
    return server
  }

  standby(primary: PostgresServer, options?: StandbyOptions): Promise<PostgresServer> {
    return this.#ending(primary.standby(options))
  }

  bouncer(server: PostgresServer, options?: PgBouncerOptions): Promise<PgBouncer> {
    return this.#ending(PgBouncer.start(server, options))
  }

  async proxy({ port }: Reachable): Promise<TcpProxy> {
    const proxy = await TcpProxy.to(port)
    this.atEnd(() => proxy.close())
    return proxy
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

  /** A lease on `job`, of an owner of its own. */
  player(owner: string, store: LeaseStore, options: CreateLeaseOptions & { readonly name?: string } = {}): Player {
    const { name = 'job', ...rest } = options
    const lease = createLease(store, name, { ...TIMES, ...rest, owner, logger: silentLogger })
    const player: Player = { lease, losses: [], events: [], troubles: [], overlaps: [] }
    for (const event of ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released'] as const) {
      lease.on(event, () => void player.events.push(event))
    }
    lease.on('acquired', () => {
      const others = this.#players.filter((other) => other !== player && isValidRival(other, player))
      player.overlaps.push(...others.map((other) => other.lease.settings.owner))
    })
    lease.on('jeopardy', ({ cause }) => void player.troubles.push(cause))
    lease.on('lost', (lost) => void player.losses.push(lost))
    this.#players.push(player)
    return player
  }

  async #ending<T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
    const started = await starting
    this.atEnd(() => started.stop())
    return started
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

function isValidRival({ lease }: Player, { lease: own }: Player): boolean {
  return lease.settings.name === own.settings.name && lease.checkLease()
}

/** How many heartbeats were confirmed. */
export function heartbeats({ events }: Player): number {
  return events.filter((event) => event === 'renewed').length
}

export function claimOf(grantId: string, request: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name: 'job', owner: 'anna', grantId, ttl: 10_000, ...request }
}

/** A grant of a name that is free. */
export async function granted(store: LeaseStore, grantId: string, request?: Partial<AcquireRequest>): Promise<Grant> {
  const outcome = await store.acquire(claimOf(grantId, request), never)
  if (!outcome.granted) throw new Error(`held by ${outcome.holder?.owner}`)
  return outcome.grant
}

/** A call with a time limit, in milliseconds. */
export function within(duration: number): StoreCall {
  const call = new AbortableCall(duration)
  systemClock.schedule(duration, () => call.abort(new Error(`not within ${duration} ms`)))
  return call
}
