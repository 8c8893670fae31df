import { redisProgram } from '@leasehold/testing/redis-program'
import { RedisServer } from '@leasehold/testing/redis-server'
import { runCluster } from '../../servers/cluster.js'
import type { RunningSystem, System, SystemScene } from '../system.js'
import type { RedisQuorumClientSettings } from './settings.js'

const timeouts = { ttl: 2_500, heartbeatInterval: 500, operationTimeout: 700 }

/** Of the leases. One more keeps the registers. */
const MEMBERS = 5

/**
 * Five independent servers that write every change to disk before they answer. Each is killed, frozen and started again, also
 * several at a time, so that there is no majority for a while. Their clocks are those of the machine.
 */
export const redisQuorumSystem: System = {
  name: 'redis-quorum',
  title: `${MEMBERS} servers of Redis, with appendfsync always, and one more for the registers`,
  whyNot: redisProgram.whyNot,
  timeouts,
  longestRecovery: 10_000,
  client: new URL('client.ts', import.meta.url),
  start: startQuorum,
}

async function startQuorum({ clients }: SystemScene): Promise<RunningSystem> {
  const servers = await Promise.all(Array.from({ length: MEMBERS + 1 }, startServer))
  return await runCluster({
    servers,
    clients,
    settings: (ports): RedisQuorumClientSettings => ({
      ports: ports.slice(0, MEMBERS),
      registerPort: ports[MEMBERS] ?? 0,
      operationTimeout: timeouts.operationTimeout,
    }),
  })
}

async function startServer() {
  const server = await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  return {
    port: server.port,
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    kill: () => server.kill(),
    launch: () => server.restart(),
    ready: async () => void (await server.command('PING')),
    stop: () => server.stop(),
  }
}
