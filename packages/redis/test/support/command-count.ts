import type { RedisServer } from '@leasehold/testing/redis-server'

/** How often a server was asked to run a script, by any client. */
export async function scriptCalls(server: RedisServer): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'))
  const counts = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].map(([, calls]) => Number(calls))
  return counts.reduce((sum, calls) => sum + calls, 0)
}
