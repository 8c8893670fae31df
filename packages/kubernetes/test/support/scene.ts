import { createLease, type LeaseLost, type LeaseStore, type StoreLease, type TimeoutOptions } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { KubernetesLeaseStore, type KubernetesLeaseStoreOptions } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { TcpProxy } from '@leasehold/testkit'
import { TestApiServer } from './api-server/test-api-server.js'
import { kubeConfigFor } from './kube-config-for.js'

/** Of the leases of a scene, unless others are given. */
const TIMES = { heartbeatTimeout: 6_000, heartbeatInterval: 1_000, operationTimeout: 1_500 }

/** A lease and its history. */
export interface Player {
  readonly lease: StoreLease
  readonly losses: LeaseLost[]
  /** The names of its events, in order. */
  readonly events: string[]
  /** The other valid owners when it was granted; must be empty. */
  readonly overlaps: string[]
}

/** A server, ways to it and leases on it, for a test in real time beside others. */
export class Scene {
  readonly server: TestApiServer
  readonly #proxies: TcpProxy[] = []
  readonly #stores: LeaseStore[] = []
  readonly #players: Player[] = []

  private constructor(server: TestApiServer) {
    this.server = server
  }

  static async play(act: (scene: Scene) => Promise<void>): Promise<void> {
    const scene = new Scene(await TestApiServer.start())
    try {
      await act(scene)
    } finally {
      for (const store of scene.#stores) await store.close()
      for (const proxy of scene.#proxies) await proxy.close()
      await scene.server.stop()
    }
  }

  async proxy(): Promise<TcpProxy> {
    const proxy = await TcpProxy.to(this.server.port)
    this.#proxies.push(proxy)
    return proxy
  }

  /** A lease of an owner of its own, over a store of its own. */
  async player(
    owner: string,
    { port }: { readonly port: number } = this.server,
    {
      token,
      heartbeatTimeout,
      heartbeatInterval,
      operationTimeout,
      ...options
    }: KubernetesLeaseStoreOptions & TimeoutOptions & { readonly token?: string } = {},
  ): Promise<Player> {
    const store = new KubernetesLeaseStore({
      kubeConfig: await kubeConfigFor(port, token),
      logger: silentLogger,
      ...options,
    })
    this.#stores.push(store)
    // The client is loaded, and connected, by the first call: it must not count in the time limit of a claim.
    await store.read('job', new AbortableCall())
    const lease = createLease(store, 'job', {
      ...TIMES,
      ...(heartbeatTimeout === undefined ? {} : { heartbeatTimeout, heartbeatInterval, operationTimeout }),
      owner,
      logger: silentLogger,
    })
    const player: Player = { lease, losses: [], events: [], overlaps: [] }
    for (const event of ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released'] as const) {
      lease.on(event, () => void player.events.push(event))
    }
    lease.on('acquired', () => {
      const others = this.#players.filter((other) => other !== player && other.lease.checkLease())
      player.overlaps.push(...others.map((other) => other.lease.settings.owner))
    })
    lease.on('lost', (lost) => void player.losses.push(lost))
    this.#players.push(player)
    return player
  }
}
