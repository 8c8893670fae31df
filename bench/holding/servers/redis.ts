import { RedisServer } from '@leasehold/testing/redis-server'
import { processorTimeOf } from '../../support/processor-time.js'
import type { StoreServer } from './store-server.js'

export async function startRedis(): Promise<StoreServer> {
  const server = await RedisServer.start()
  const info = async (...sections: string[]): Promise<string> => String(await server.command('INFO', ...sections))
  const [, version] = /^redis_version:(\S+)/m.exec(await info('server')) ?? []
  return {
    address: server.url,
    version: `Redis ${version}`,
    commands: 'commands',
    read: async () => {
      const counters = await info('server', 'commandstats', 'memory')
      const others = [...counters.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].filter(
        ([, command]) => command !== 'info',
      )
      const [, micros] = /^server_time_usec:(\d+)/m.exec(counters) ?? []
      const [, stored] = /^used_memory:(\d+)/m.exec(counters) ?? []
      return {
        cpu: processorTimeOf(server.pid),
        commands: others.reduce((sum, [, , count]) => sum + Number(count), 0),
        at: Number(micros) / 1_000,
        stored: Number(stored),
      }
    },
    stop: () => server.stop(),
  }
}
