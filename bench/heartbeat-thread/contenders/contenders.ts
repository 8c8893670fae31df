import type { Contender as RedisContender } from '../../redis/contenders/contender.js'
import { redisSemaphoreContenders } from '../../redis/contenders/redis-semaphore.js'
import { redlockContenders } from '../../redis/contenders/redlock.js'
import { bullmq } from './bullmq.js'
import { type Contender, TTL } from './contender.js'
import { leaseholdContenders } from './leasehold.js'

/** In the order of the tables. */
export function contenders(): readonly Contender[] {
  const rivals = [...redlockContenders(), ...redisSemaphoreContenders()].filter(({ setting }) => setting === 'default')
  return [...leaseholdContenders(), ...rivals.map(fromRedisBenchmark), bullmq()]
}

export function contenderOf(id: string): Contender {
  const contender = contenders().find((candidate) => candidate.id === id)
  if (contender === undefined) throw new Error(`no such contender: ${id}`)
  return contender
}

/** A library of the benchmark of the Redis provider. */
function fromRedisBenchmark(contender: RedisContender): Contender {
  return {
    id: contender.id,
    label: contender.library,
    ours: false,
    isThreaded: false,
    isOnRedis: true,
    open: async ({ port }, { role }) => {
      const session = contender.open(port, { purpose: 'event-loop-lag', role, ttl: TTL, waiters: 1 })
      await session.connected()
      return session
    },
  }
}
