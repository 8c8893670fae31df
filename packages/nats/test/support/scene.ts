import { NatsLeaseStore, type NatsLeaseStoreOptions } from '@leasehold/nats'
import { NatsServer, type NatsServerOptions } from '@leasehold/testing/nats-server'
import { ServerScene } from '@leasehold/testing/server-scene'
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node'

/** Of the leases of a scene, unless others are given. */
const TIMES = { heartbeatTimeout: 12_000, heartbeatInterval: 1_000, operationTimeout: 4_000 }

/** Servers, connections, stores and leases, for a test beside others; all ends with it. */
export class Scene extends ServerScene {
  static async play(act: (scene: Scene) => Promise<void>): Promise<void> {
    await ServerScene.playIn(new Scene(TIMES), act)
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
}
