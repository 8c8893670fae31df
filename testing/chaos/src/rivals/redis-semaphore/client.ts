import { Mutex } from 'redis-semaphore'
import { redisConnection } from '../../systems/redis-connection.js'
import type { RivalConnection } from '../../systems/system.js'
import { plainRegister } from '../plain-register.js'
import type { RedisLocksSettings } from '../redis-locks.js'
import { RivalLease, type TryLock } from '../rival-lease.js'

/** The library does not say until when a lock is held: a look at it counts for this long, in milliseconds. */
const LOOK = 1

/** Contends with `Mutex` of redis-semaphore, which its users take for held while `isAcquired` is true. */
export default function connect(settings: RedisLocksSettings): Promise<RivalConnection> {
  const { ports, registerPort, ttl, operationTimeout } = settings
  const redis = redisConnection(ports[0] ?? 0, operationTimeout)
  const registers = redisConnection(registerPort, operationTimeout)
  // A refresh that fails is a rejection that nobody handles, which would end this process.
  process.on('unhandledRejection', () => {})
  const tryLock: TryLock = async (name, onLost) => {
    const mutex = new Mutex(redis, name, {
      lockTimeout: ttl,
      acquireAttemptsLimit: 1,
      onLockLost: () => onLost({ reason: 'expired' }),
    })
    if (!(await mutex.tryAcquire())) return undefined
    return {
      remaining: () => (mutex.isAcquired ? LOOK : 0),
      release: async () => {
        await mutex.release()
        return true
      },
    }
  }
  return Promise.resolve({
    lease: (name, owner, clock) => new RivalLease(tryLock, { name, owner, clock }),
    register: (name) => plainRegister(registers, name),
    close: async () => {
      for (const each of [redis, registers]) each.disconnect()
    },
  })
}
