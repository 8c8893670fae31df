import { EtcdServer, etcdProgram } from '@leasehold/testing/etcd-server'
import { KubeApiServer, whyNoKubeApiServer } from '@leasehold/testing/kube-api-server'
import { runCluster } from '../../servers/cluster.js'
import { Member, outages } from '../../servers/member.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import { type KubernetesClientSettings, REGISTERS, registerOf } from './settings.js'

const timeouts = { ttl: 4_000, heartbeatInterval: 700, operationTimeout: 1_500 }

/**
 * Two API servers over one etcd; every second client uses the second one. Each of them, and the etcd, is killed and frozen. A
 * client does not change over to the other server: that is the work of a load balancer in front of them.
 *
 * The clocks of the servers are left alone: programs in Go read them past the library by which `faketime` shifts clocks. The
 * store allows them to differ by five seconds, unless `clockDifference` is given.
 */
export const kubernetesSystem: System = {
  name: 'kubernetes',
  title: '2 API servers of Kubernetes over one etcd',
  whyNot: whyNoKubeApiServer ?? etcdProgram.whyNot,
  timeouts,
  // A grant has to expire, and a new challenger adds what the clocks may differ.
  longestRecovery: 30_000,
  client: new URL('./client.ts', import.meta.url),
  start,
}

async function start({ clients, names }: SystemScene): Promise<RunningSystem> {
  const etcd = new Member(await EtcdServer.start())
  const servers = await startServers(etcd.server)
  await createRegisters(servers, names)
  const running = await runCluster({
    servers,
    clients,
    settings: (ports, client): KubernetesClientSettings => {
      const place = client % servers.length
      return {
        server: `https://127.0.0.1:${ports[place]}`,
        ca: servers[place]?.ca() ?? '',
        operationTimeout: timeouts.operationTimeout,
      }
    },
    faults: () => outages(etcd, 'etcd', 'etcd'),
    stop: () => etcd.server.stop(),
  })
  return {
    ...running,
    heal: async () => {
      await etcd.heal()
      await etcd.server.ready()
      await running.heal()
    },
  }
}

async function startServers(etcd: EtcdServer): Promise<readonly KubeApiServer[]> {
  const servers: KubeApiServer[] = []
  try {
    for (let count = 0; count < 2; count += 1) servers.push(await KubeApiServer.start({ etcd: etcd.url }))
    return servers
  } catch (error) {
    await Promise.all([...servers, etcd].map((server) => server.stop()))
    throw error
  }
}

/** The guard of the package writes objects that exist. */
async function createRegisters([server]: readonly KubeApiServer[], names: readonly string[]): Promise<void> {
  for (const name of names) {
    const status = await server?.ask('POST', `/api/${REGISTERS}`, { metadata: { name: registerOf(name) } })
    if (status !== 201) throw new Error(`the register of '${name}' was not created: ${status}`)
  }
}
