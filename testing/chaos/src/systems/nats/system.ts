import { eventually } from '@leasehold/testing'
import { NatsServer, natsProgram } from '@leasehold/testing/nats-server'
import { Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { runCluster } from '../../servers/cluster.js'
import { cutLeader } from '../../servers/cut-leader.js'
import { operatorFault } from '../../servers/member.js'
import { Mesh } from '../../servers/mesh.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import { type NatsClientSettings, REGISTERS } from './settings.js'

const LEASES = 'leasehold'

const timeouts = { ttl: 6_000, heartbeatInterval: 1_000, operationTimeout: 1_500 }

/**
 * Three servers of NATS, with three replicas of each bucket. Each is killed and frozen, also the leader of the leases, and also
 * two at a time: then nobody is granted anything until the quorum is back. The leader steps down, and it is cut off from the
 * other servers while clients still reach it.
 *
 * The clocks of the servers are left alone: programs in Go read them past the library by which `faketime` shifts clocks. The
 * store allows them to differ by two seconds, unless `clockDifference` is given.
 */
export const natsSystem: System = {
  name: 'nats',
  title: '3 servers of NATS with JetStream',
  whyNot: natsProgram.whyNot,
  timeouts,
  // An election begins after 4 to 9 s without the leader, and may have to be repeated; then a grant has to expire.
  longestRecovery: 40_000,
  client: new URL('./client.ts', import.meta.url),
  start,
}

async function start({ clients }: SystemScene): Promise<RunningSystem> {
  const mesh = new Mesh()
  const servers = await NatsServer.cluster(3, {}, (from, to, port) => mesh.way(from, to, port))
  const operator = await connect({
    servers: servers.map(({ url }) => url),
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    pingInterval: 500,
  })
  await eventually('the buckets are made', () => createBuckets(operator))
  const running = await runCluster({
    servers,
    clients,
    isLeader: (server) => server.leads(`KV_${LEASES}`),
    settings: (ports): NatsClientSettings => ({
      servers: ports.map((port) => `127.0.0.1:${port}`),
      operationTimeout: timeouts.operationTimeout,
    }),
    faults: (members, leader) => [
      operatorFault('promote', async () => {
        await Promise.all([LEASES, REGISTERS].map((bucket) => stepDown(operator, bucket)))
      }),
      cutLeader(mesh, members, leader, 15_000),
    ],
    ready: () => eventually('all buckets have a leader', () => haveLeaders(operator)),
    stop: async () => {
      await operator.close()
      await mesh.close()
    },
  })
  return {
    ...running,
    heal: async () => {
      mesh.heal()
      await running.heal()
    },
  }
}

async function createBuckets(operator: NatsConnection): Promise<boolean> {
  for (const bucket of [LEASES, REGISTERS]) await new Kvm(operator).create(bucket, { replicas: 3, history: 1 })
  return true
}

/** Another server becomes the leader of the bucket. */
async function stepDown(operator: NatsConnection, bucket: string): Promise<void> {
  await operator.request(`$JS.API.STREAM.LEADER.STEPDOWN.KV_${bucket}`, '', { timeout: 2_000 })
}

async function haveLeaders(operator: NatsConnection): Promise<boolean> {
  for (const bucket of [LEASES, REGISTERS]) {
    const answer = await operator.request(`$JS.API.STREAM.INFO.KV_${bucket}`, '', { timeout: 2_000 })
    const { cluster } = answer.json<{ cluster?: { leader?: string; replicas?: { current: boolean }[] } }>()
    const { leader = '', replicas = [] } = cluster ?? {}
    if (leader === '' || !replicas.every(({ current }) => current)) return false
  }
  return true
}
