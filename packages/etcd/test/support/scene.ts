import { EtcdClient, type EtcdClientOptions, EtcdLeaseStore } from '@leasehold/etcd'
import { EtcdServer, type EtcdServerOptions } from '@leasehold/testing/etcd-server'
import { never } from '@leasehold/testing/job-claims'
import { ServerScene } from '@leasehold/testing/server-scene'

/** Of the leases of a scene, unless others are given. */
const TIMES = { heartbeatTimeout: 9_000, heartbeatInterval: 1_000, operationTimeout: 3_000 }

/** Servers, stores and leases, for a test beside others; all ends with it. */
export class Scene extends ServerScene {
  static async play(act: (scene: Scene) => Promise<void>): Promise<void> {
    await ServerScene.playIn(new Scene(TIMES), act)
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
}

export async function leaderOf(members: readonly EtcdServer[]): Promise<EtcdServer> {
  for (const member of members) if (await member.isLeader()) return member
  throw new Error('no member is the leader')
}

/** Loads gRPC: on a busy machine that takes longer than an operation may. */
export async function warmUp({ url }: { readonly url: string }): Promise<void> {
  const store = new EtcdLeaseStore({ endpoints: [url] })
  await store.read('job', never)
  await store.close()
}
