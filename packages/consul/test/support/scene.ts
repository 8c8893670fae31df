import { setTimeout as sleep } from 'node:timers/promises'
import { ConsulLeaseStore, type ConsulLeaseStoreOptions } from '@leasehold/consul'
import { eventually } from '@leasehold/testing'
import { ConsulServer, type ConsulServerOptions } from '@leasehold/testing/consul-server'
import type { Player } from '@leasehold/testing/players'
import { ServerScene } from '@leasehold/testing/server-scene'

/** Of the leases of a scene, unless others are given. */
export const TIMES = { heartbeatTimeout: 8_000, heartbeatInterval: 1_000, operationTimeout: 2_000 }

export const FOREVER = { wait: Number.POSITIVE_INFINITY }

/** Servers, ways to them, stores and leases, for a test beside others; all ends with it. */
export class Scene extends ServerScene {
  static async play(act: (scene: Scene) => Promise<void>): Promise<void> {
    await ServerScene.playIn(new Scene(TIMES), act)
  }

  server(options?: ConsulServerOptions): Promise<ConsulServer> {
    return this.ending(ConsulServer.start(options))
  }

  /** A client agent of the cluster, with a node of its own. */
  async agent(name: string, server: ConsulServer): Promise<ConsulServer> {
    const agent = await this.ending(ConsulServer.join(name, { isClient: true }, [server]))
    await agent.ready()
    return agent
  }

  /** Servers of one cluster, with a leader. */
  async cluster(size = 3): Promise<readonly ConsulServer[]> {
    const servers = await ConsulServer.cluster(size)
    for (const server of servers) this.atEnd(() => server.stop())
    return servers
  }

  /** A store that reaches these agents or ways, in their order. */
  store(ways: readonly { readonly port: number }[], options: ConsulLeaseStoreOptions = {}): ConsulLeaseStore {
    const addresses = ways.map(({ port }) => `http://127.0.0.1:${port}`)
    const store = new ConsulLeaseStore({ addresses, minTtl: 1_000, ...options })
    this.atEnd(() => store.close())
    return store
  }
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
