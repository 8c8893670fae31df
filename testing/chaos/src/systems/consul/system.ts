import { ConsulServer, consulProgram, peerHost } from '@leasehold/testing/consul-server'
import { runCluster } from '../../servers/cluster.js'
import { cutLeader } from '../../servers/cut-leader.js'
import { PeerNetwork } from '../../servers/peer-network.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import type { ConsulClientSettings } from './settings.js'

const timeouts = { ttl: 3_000, heartbeatInterval: 500, operationTimeout: 1_000 }

/**
 * Three servers of Consul, which allow sessions of a second. Each is killed and frozen, also the leader, and also two at a time:
 * then nobody is granted anything until the quorum is back. The leader is cut off from the other servers while clients still reach
 * it: their Raft and their requests are cut, and they still hear each other's gossip.
 *
 * The leadership is not transferred: Consul 1.8 has no request for that. The clocks of the servers are left alone: programs in Go
 * read them past the library by which `faketime` shifts clocks.
 */
export const consulSystem: System = {
  name: 'consul',
  title: '3 servers of Consul',
  whyNot: consulProgram.whyNot,
  timeouts,
  // A session ends up to two ttls after its last renewal, and those that a new leader finds begin again; then its key is locked
  // for a ttl. An election takes some seconds.
  longestRecovery: 30_000,
  client: new URL('./client.ts', import.meta.url),
  start,
}

async function start({ clients }: SystemScene): Promise<RunningSystem> {
  const network = new PeerNetwork()
  const running = await runCluster({
    servers: await ConsulServer.cluster(3, {}, network.address(peerHost)),
    clients,
    isLeader: (server) => server.isLeader(),
    settings: (ports): ConsulClientSettings => ({
      addresses: ports.map((port) => `http://127.0.0.1:${port}`),
      operationTimeout: timeouts.operationTimeout,
    }),
    faults: (members, leader) => [cutLeader(network.mesh, members, leader, 10_000)],
    stop: () => network.close(),
  })
  return {
    ...running,
    heal: async () => {
      network.mesh.heal()
      await running.heal()
    },
  }
}
