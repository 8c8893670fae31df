import { setTimeout as sleep } from 'node:timers/promises'
import { ConsulLeaseStore, type ConsulLeaseStoreOptions } from '@leasehold/consul'
import { type CreateLeaseOptions, createLease, type LeaseLost, type LeaseStore, type StoreLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { eventually, silentLogger } from '@leasehold/testing'
import { ConsulServer, type ConsulServerOptions } from '@leasehold/testing/consul-server'
import { TcpProxy } from '@leasehold/testkit'

/** Of the leases of a scene, unless others are given. */
export const TIMES = { heartbeatTimeout: 8_000, heartbeatInterval: 1_000, operationTimeout: 2_000 }

export const FOREVER = { wait: Number.POSITIVE_INFINITY }

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

  server(options?: ConsulServerOptions): Promise<ConsulServer> {
    return this.#ending(ConsulServer.start(options))
  }

  /** A client agent of the cluster, with a node of its own. */
  async agent(name: string, server: ConsulServer): Promise<ConsulServer> {
    const agent = await this.#ending(ConsulServer.join(name, { isClient: true }, [server]))
    await agent.ready()
    return agent
  }

  /** Servers of one cluster, with a leader. */
  async cluster(size = 3): Promise<readonly ConsulServer[]> {
    const servers: ConsulServer[] = []
    for (let place = 0; place < size; place += 1) {
      servers.push(await this.#ending(ConsulServer.join(`server-${place}`, { servers: size }, servers)))
    }
    for (const server of servers) await server.ready()
    return servers
  }

  async proxy({ port }: { readonly port: number }): Promise<TcpProxy> {
    const proxy = await TcpProxy.to(port)
    this.atEnd(() => proxy.close())
    return proxy
  }

  /** A store that reaches these agents or ways, in their order. */
  store(ways: readonly { readonly port: number }[], options: ConsulLeaseStoreOptions = {}): ConsulLeaseStore {
    const addresses = ways.map(({ port }) => `http://127.0.0.1:${port}`)
    const store = new ConsulLeaseStore({ addresses, minTtl: 1_000, ...options })
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

  async #ending<T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
    const started = await starting
    this.atEnd(() => started.stop())
    return started
  }
}

function isValidRival({ lease }: Player, { lease: own }: Player): boolean {
  return lease.settings.name === own.settings.name && lease.checkLease()
}

/** Resolves when so many heartbeats were confirmed. */
export async function renewed({ events }: Player, times = 1): Promise<void> {
  const before = events.filter((event) => event === 'renewed').length
  await eventually('it is renewed', async () => events.filter((event) => event === 'renewed').length >= before + times)
}

/** It was lost once, for one of the reasons. */
export async function lost({ lease, losses }: Player, ...reasons: string[]): Promise<void> {
  await eventually('it is lost', async () => losses.length > 0)
  await sleep(TIMES.heartbeatInterval)
  if (lease.checkLease() || losses.length !== 1 || !reasons.includes(losses[0]?.reason ?? '')) {
    throw new Error(`lost by ${losses.map(({ reason }) => reason)}, not once by ${reasons}`)
  }
}

/** The session that holds the key, if one does. */
export async function sessionOf(server: ConsulServer, key = 'leasehold/job'): Promise<string | undefined> {
  const [{ Session }] = (await server.request('GET', `/kv/${key}?consistent`)) as [{ Session?: string }]
  return Session
}

export function destroySession(server: ConsulServer, session: string | undefined): Promise<unknown> {
  return server.request('PUT', `/session/destroy/${session}`)
}
