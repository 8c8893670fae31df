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
import { EtcdClient, type EtcdClientOptions, EtcdLeaseStore } from '@leasehold/etcd'
import { eventually, silentLogger } from '@leasehold/testing'
import { EtcdServer, type EtcdServerOptions } from '@leasehold/testing/etcd-server'
import { TcpProxy } from '@leasehold/testkit'

/** Of the leases of a scene, unless others are given. */
const TIMES = { heartbeatTimeout: 9_000, heartbeatInterval: 1_000, operationTimeout: 3_000 }

/** Never aborted. */
export const never = new AbortableCall()

/** A lease and its history. */
export interface Player {
  readonly lease: StoreLease
  readonly losses: LeaseLost[]
  readonly events: string[]
  /** The other valid holders when it was granted: there must be none. */
  readonly overlaps: string[]
}

/** Servers, stores and leases, for a test beside others; all ends with it. */
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

  async server(options?: EtcdServerOptions): Promise<EtcdServer> {
    const server = await EtcdServer.start(options)
    this.atEnd(() => server.stop())
    return server
  }

  async cluster(options?: EtcdServerOptions): Promise<readonly EtcdServer[]> {
    const servers = await EtcdServer.cluster(3, options)
    for (const server of servers) this.atEnd(() => server.stop())
    return servers
  }

  async proxy({ port }: { readonly port: number }): Promise<TcpProxy> {
    const proxy = await TcpProxy.to(port)
    this.atEnd(() => proxy.close())
    return proxy
  }

  client(options: EtcdClientOptions): EtcdClient {
    const client = new EtcdClient(options)
    this.atEnd(async () => client.close())
    return client
  }

  /** Over these members, or over a port. */
  store(...members: readonly ({ readonly url: string } | { readonly port: number })[]): EtcdLeaseStore {
    const endpoints = members.map((member) => ('url' in member ? member.url : `http://127.0.0.1:${member.port}`))
    return this.storeWith({ endpoints })
  }

  storeWith(options: EtcdClientOptions): EtcdLeaseStore {
    const store = new EtcdLeaseStore(options)
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

/** How many heartbeats were confirmed. */
export function heartbeats({ events }: Player): number {
  return events.filter((event) => event === 'renewed').length
}

/** Resolves when this number of further heartbeats was sent. */
export async function hasRenewed(player: Player, more: number): Promise<void> {
  const before = heartbeats(player)
  await eventually(`${more} more heartbeats`, async () => heartbeats(player) >= before + more)
}

export async function leaderOf(members: readonly EtcdServer[]): Promise<EtcdServer> {
  for (const member of members) if (await member.isLeader()) return member
  throw new Error('no member is the leader')
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
export function within(duration: number): StoreCall {
  const call = new AbortableCall(duration)
  systemClock.schedule(duration, () => call.abort(new Error(`not within ${duration} ms`)))
  return call
}

export function passed(duration: number): Promise<void> {
  return new Promise((resolve) => void systemClock.schedule(duration, resolve))
}

/** Loads gRPC: on a busy machine that takes longer than an operation may. */
export async function warmUp({ url }: { readonly url: string }): Promise<void> {
  const store = new EtcdLeaseStore({ endpoints: [url] })
  await store.read('job', never)
  await store.close()
}
