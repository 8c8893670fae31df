import {
  type CreateLeaseOptions,
  createLease,
  type Grant,
  type LeaseLost,
  type LeaseStore,
  type StoreLease,
  systemClock,
} from '@leasehold/core'
import { AbortableCall, type AcquireRequest } from '@leasehold/core/store'
import { NatsLeaseStore, type NatsLeaseStoreOptions } from '@leasehold/nats'
import { eventually, silentLogger } from '@leasehold/testing'
import { NatsServer, type NatsServerOptions } from '@leasehold/testing/nats-server'
import { TcpProxy } from '@leasehold/testkit'
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node'

/** Of the leases of a scene, unless others are given. */
const TIMES = { heartbeatTimeout: 12_000, heartbeatInterval: 1_000, operationTimeout: 4_000 }

/** Never aborted. */
export const never = new AbortableCall()

/** A lease and its history. */
export interface Player {
  readonly lease: StoreLease
  readonly losses: LeaseLost[]
  /** The names of its events, in order. */
  readonly events: string[]
  /** The other valid holders when it was granted: there must be none. */
  readonly overlaps: string[]
}

/** Servers, connections, stores and leases, for a test beside others; all ends with it. */
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

  async server(options?: NatsServerOptions): Promise<NatsServer> {
    const server = await NatsServer.start(options)
    this.atEnd(() => server.stop())
    return server
  }

  async cluster(options?: NatsServerOptions): Promise<readonly NatsServer[]> {
    const servers = await NatsServer.cluster(3, options)
    for (const server of servers) this.atEnd(() => server.stop())
    return servers
  }

  async proxy({ port }: { readonly port: number }): Promise<TcpProxy> {
    const proxy = await TcpProxy.to(port)
    this.atEnd(() => proxy.close())
    return proxy
  }

  async connect(servers: string | string[], options: NodeConnectionOptions = {}): Promise<NatsConnection> {
    const connection = await connect({ servers, reconnectTimeWait: 100, maxReconnectAttempts: -1, ...options })
    this.atEnd(() => connection.close())
    return connection
  }

  store(source: ConstructorParameters<typeof NatsLeaseStore>[0], options?: NatsLeaseStoreOptions): NatsLeaseStore {
    const store = new NatsLeaseStore(source, options)
    this.atEnd(() => store.close())
    return store
  }

  /** A lease on `job`, of an owner of its own. */
  player(owner: string, store: LeaseStore, options: CreateLeaseOptions & { readonly name?: string } = {}): Player {
    const { name = 'job', ...rest } = options
    const lease = createLease(store, name, { ...TIMES, ...rest, owner, logger: silentLogger })
    const player: Player = { lease, losses: [], events: [], overlaps: [] }
    for (const event of ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released'] as const) {
      lease.on(event, () => void player.events.push(event))
    }
    lease.on('acquired', () => {
      const others = this.#players.filter((other) => other !== player && isValidRival(other, player))
      player.overlaps.push(...others.map((other) => other.lease.settings.owner))
    })
    lease.on('lost', (lost) => void player.losses.push(lost))
    this.#players.push(player)
    return player
  }
}

function isValidRival({ lease }: Player, { lease: own }: Player): boolean {
  return lease.settings.name === own.settings.name && lease.checkLease()
}

/** Resolves when this number of further heartbeats was sent. */
export async function hasRenewed(player: Player, more: number): Promise<void> {
  const count = (): number => player.events.filter((event) => event === 'renewed').length
  const before = count()
  await eventually(`${more} more heartbeats`, async () => count() >= before + more)
}

export function claimOf(grantId: string, request: Partial<AcquireRequest> = {}): AcquireRequest {
  return { name: 'job', owner: 'anna', grantId, ttl: 10_000, ...request }
}

/** A grant that nothing stands in the way of. */
export async function granted(store: LeaseStore, grantId: string, request?: Partial<AcquireRequest>): Promise<Grant> {
  const outcome = await store.acquire(claimOf(grantId, request), never)
  if (!outcome.granted) throw new Error(`held by ${outcome.holder?.owner}`)
  return outcome.grant
}

/** A call with a time limit, in milliseconds. */
export function within(duration: number): AbortableCall {
  const call = new AbortableCall(duration)
  systemClock.schedule(duration, () => call.abort(new Error(`not within ${duration} ms`)))
  return call
}

export function passed(duration: number): Promise<void> {
  return new Promise((resolve) => void systemClock.schedule(duration, resolve))
}
