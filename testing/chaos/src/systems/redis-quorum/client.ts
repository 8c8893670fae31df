import type { Clock } from '@leasehold/core'
import { RedisGuard } from '@leasehold/redis'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { guardedWrite } from '../guarded-write.js'
import { redisConnection } from '../redis-connection.js'
import type { Connection } from '../system.js'
import type { RedisQuorumClientSettings } from './settings.js'

/** The registers are on a server of their own: a quorum has no guard. */
export default function connect(
  { ports, registerPort, operationTimeout }: RedisQuorumClientSettings,
  _names: readonly string[],
  clock: Clock,
): Promise<Connection> {
  const members = ports.map((port) => redisConnection(port, operationTimeout))
  const registers = redisConnection(registerPort, operationTimeout)
  const store = new RedisQuorumLeaseStore(members, { clock })
  const guard = new RedisGuard(registers)
  return Promise.resolve({
    store,
    register: (name) => ({
      write: (value, token) => guardedWrite(guard.write(name, token, value)),
      read: async () => (await registers.get(name)) ?? undefined,
    }),
    close: async () => {
      await store.close()
      for (const redis of [...members, registers]) redis.disconnect()
    },
  })
}
