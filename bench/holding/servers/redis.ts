import { RedisServer } from '@leasehold/testing/redis-server'
import { processorTimeOf } from '../../postgres/processor-time.js'
import type { StoreServer } from './store-server.js'

export async function startRedis(): Promise<StoreServer> {
  const server = await RedisServer.start()
  const info = async (section: string): Promise<string> => String(await server.command('INFO', section))
  const [, version] = /^redis_version:(\S+)/m.exec(await info('server')) ?? []
  return {
    address: server.url,
    version: `Redis ${version}`,
    commands: 'commands',
    read: async () => {
      const calls = [...(await info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
      const others = calls.filter(([, command]) => command !== 'info')
      const [, stored] = /^used_memory:(\d+)/m.exec(await info('memory')) ?? []
      return {
        cpu: processorTimeOf(server.pid),
        commands: others.reduce((sum, [, , count]) => sum + Number(count), 0),
        stored: Number(stored),
      }
    },
    stop: () => server.stop(),
  }
}
