import { contendersOf, type Contender as RedisContender } from '../../redis/contenders/contender.js'
import { redisSemaphore } from '../../redis/contenders/redis-semaphore.js'
import { redlock } from '../../redis/contenders/redlock.js'
import { countUnhandledRejections } from '../../support/unhandled-rejections.js'
import { bullmq } from './bullmq.js'
import { type Contender, TTL } from './contender.js'
import { leaseholdContenders } from './leasehold.js'

/** In the order of the tables. */
export function contenders(): readonly Contender[] {
  const libraries = [redlock(), redisSemaphore()].flatMap((library) => contendersOf(library))
  const rivals = libraries.filter(({ setting }) => setting === 'default')
  return [...leaseholdContenders(), ...rivals.map(fromRedisBenchmark), bullmq()]
}

/** In a process of its own. The calls of a rival that is cut off may fail without any code that waits for them. */
export function contendersInChild(): readonly Contender[] {
  countUnhandledRejections()
  return contenders()
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
