import { redisProgram } from '@leasehold/testing/redis-program'
import { RedisServer } from '@leasehold/testing/redis-server'
import { ClientWay } from '../client-way.js'
import type { RunningSystem, System, SystemFault, SystemScene } from '../system.js'
import type { RedisClientSettings } from './settings.js'

const timeouts = { ttl: 2_000, heartbeatInterval: 400, operationTimeout: 600 }

/**
 * One server that writes every change to disk before it answers. It is killed, frozen and restarted. There is no replica:
 * replication is asynchronous, so that a promotion may lose a grant, which the package says. The clock of the server is not
 * shifted either: a step of it moves all expiries, which is a documented limit.
 */
export const redisSystem: System = {
  name: 'redis',
  title: 'one server of Redis, with appendfsync always',
  whyNot: redisProgram.whyNot,
  timeouts,
  longestRecovery: 8_000,
  client: new URL('client.ts', import.meta.url),
  start: startRedis,
}

async function startRedis({ folder, clients }: SystemScene): Promise<RunningSystem> {
  const server = await RedisServer.start({ dir: folder, args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  const ways = await Promise.all(Array.from({ length: clients }, (_, place) => ClientWay.to([server.port], place + 1)))
  return {
    settingsFor(client): RedisClientSettings {
      const [port = 0] = ways[client - 1]?.ports ?? []
      return { port, operationTimeout: timeouts.operationTimeout }
    },
    faults: [...serverFaults(server), ...ways.flatMap(({ faults }) => faults)],
    async heal() {
      for (const way of ways) way.heal()
      await server.command('PING')
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await server.stop()
    },
  }
}

function serverFaults(server: RedisServer): SystemFault[] {
  const target = 'server 1'
  return [
    {
      kind: 'kill-server',
      target,
      weight: 2,
      lasts: [100, 3_000],
      begin: () => server.kill(),
      end: () => server.restart(),
    },
    {
      kind: 'freeze-server',
      target,
      weight: 2,
      lasts: [100, 5_000],
      begin: () => server.freeze(),
      end: () => server.thaw(),
    },
  ]
}
