import { type RedisClient, RedisLeaseStore, type RedisLeaseStoreOptions } from '@leasehold/redis'
import { RedisServer, type RedisServerOptions } from '@leasehold/testing/redis-server'
import { ServerScene } from '@leasehold/testing/server-scene'
import { RedisCluster } from './redis-cluster.js'
import { RedisSentinel } from './redis-sentinel.js'

/** Of the leases of a scene, unless others are given. */
export const TIMES = { heartbeatTimeout: 9_000, heartbeatInterval: 1_000, operationTimeout: 3_000 }

/** Servers, ways to them, stores and leases, for a test beside others; all ends with it. */
export class Scene extends ServerScene {
  static async play(act: (scene: Scene) => Promise<void>): Promise<void> {
    await ServerScene.playIn(new Scene(TIMES), act)
  }

  server(options?: RedisServerOptions): Promise<RedisServer> {
    return this.ending(RedisServer.start(options))
  }

  cluster(args?: readonly string[]): Promise<RedisCluster> {
    return this.ending(RedisCluster.start(args))
  }

  sentinel(): Promise<RedisSentinel> {
    return this.ending(RedisSentinel.start())
  }

  store(client: RedisClient, options?: RedisLeaseStoreOptions): RedisLeaseStore {
    const store = new RedisLeaseStore(client, options)
    this.atEnd(() => store.close())
    return store
  }
}
