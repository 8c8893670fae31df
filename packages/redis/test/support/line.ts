import { eventually } from '@leasehold/testing'
import type { RedisServer } from '@leasehold/testing/redis-server'

/** How many have a place in the line of a name, alive or not. */
export async function lineLength(server: RedisServer, key = 'leasehold:{job}'): Promise<number> {
  const fields = (await server.command('HKEYS', key)) as readonly string[]
  return fields.filter((field) => field.startsWith('w:')).length
}

/** Waits until so many have a place. */
export function untilInLine(server: RedisServer, count: number): Promise<void> {
  return eventually(`${count} have a place in line`, async () => (await lineLength(server)) === count)
}
