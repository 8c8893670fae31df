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
import { type RedisClient, RedisLeaseStore, type RedisLeaseStoreOptions } from '@leasehold/redis'
import { silentLogger } from '@leasehold/testing'
import { RedisServer, type RedisServerOptions } from '@leasehold/testing/redis-server'
import { TcpProxy } from '@leasehold/testkit'
import { RedisCluster } from './redis-cluster.js'
import { RedisSentinel } from './redis-sentinel.js'

/** Of the leases of a scene, unless others are given. */
export const TIMES = { heartbeatTimeout: 9_000, heartbeatInterval: 1_000, operationTimeout: 3_000 }

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

/** Servers, ways to them, stores and leases, for a test beside others; all ends with it. */
export class Scene {
  readonly #ends: (() => Promise<unknown>)[] = []
  readonly #players: Player[] = []

  static async play(act: (scene: Scene) => Promise<void>): Promise<void> {
    const scene = new Scene()
    try {
      await act(scene)
    } finally {
      for (const end of scene.#ends.reverse()) await end()
    }
  }

  /** Registers work for the end, in reverse order. */
  atEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end)
  }

  server(options?: RedisServerOptions): Promise<RedisServer> {
    return this.#ending(RedisServer.start(options))
  }

  cluster(args?: readonly string[]): Promise<RedisCluster> {
    return this.#ending(RedisCluster.start(args))
  }

  sentinel(): Promise<RedisSentinel> {
    return this.#ending(RedisSentinel.start())
  }

  async proxy({ port }: { readonly port: number }): Promise<TcpProxy> {
    const proxy = await TcpProxy.to(port)
    this.atEnd(() => proxy.close())
    return proxy
  }

  store(client: RedisClient, options?: RedisLeaseStoreOptions): RedisLeaseStore {
    const store = new RedisLeaseStore(client, options)
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

/** A grant that nothing stands in the way of. */
export async function granted(
  store: Pick<LeaseStore, 'acquire'>,
  grantId: string,
  request?: Partial<AcquireRequest>,
): Promise<Grant> {
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
