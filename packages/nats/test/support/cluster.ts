import { eventually } from '@leasehold/testing'
import type { NatsServer, NatsServerOptions } from '@leasehold/testing/nats-server'
import type { Player } from '@leasehold/testing/players'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Scene } from './scene.js'

export interface Cast {
  readonly servers: readonly NatsServer[]
  /** The leader of the bucket when the scene begins. */
  readonly leader: NatsServer
  readonly holder: Player
  readonly waiter: Player
  readonly waiting: Promise<boolean>
  readonly token: bigint
}

/** A cluster of three with a bucket, a holder and a waiter, each over all servers. */
export async function begin(scene: Scene, options?: NatsServerOptions): Promise<Cast> {
  const servers = await scene.cluster(options)
  const addresses = servers.map(({ url }) => url)
  const [one, two] = [await scene.connect(addresses), await scene.connect(addresses)]
  const holder = scene.player('holder', scene.store(one))
  const waiter = scene.player('waiter', scene.store(two))
  await eventually('the holder is granted the lease', async () => await holder.lease.acquire())
  const waiting = waiter.lease.acquire({ wait: Number.POSITIVE_INFINITY })
  const leader = found(servers, await leaderOf(one))
  return { servers, leader, holder, waiter, waiting, token: holder.lease.fencingToken ?? 0n }
}

/** The name of the server that leads the bucket. */
async function leaderOf(connection: NatsConnection, bucket = 'leasehold'): Promise<string> {
  const manager = await jetstreamManager(connection)
  const { cluster } = await manager.streams.info(`KV_${bucket}`)
  return cluster?.leader ?? ''
}

function found(servers: readonly NatsServer[], leader: string): NatsServer {
  const server = servers.find(({ name }) => name === leader)
  if (server === undefined) throw new Error(`no server is ${leader}`)
  return server
}
