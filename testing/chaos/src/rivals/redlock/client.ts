import Redlock from 'redlock'
import { redisConnection } from '../../systems/redis-connection.js'
import type { RivalConnection } from '../../systems/system.js'
import { plainRegister } from '../plain-register.js'
import type { RedisLocksSettings } from '../redis-locks.js'
import { RivalLease, type TryLock } from '../rival-lease.js'
import { RedlockLock } from './redlock-lock.js'

/** The votes of an attempt, as redlock's errors have them. */
interface FailedAttempts {
  readonly attempts?: readonly Promise<{ readonly votesAgainst: ReadonlyMap<unknown, Error> }>[]
}

/** Contends with redlock, as its page shows it, without its own repetitions. */
export default function connect(settings: RedisLocksSettings): Promise<RivalConnection> {
  const { ports, registerPort, ttl, heartbeatInterval: interval, operationTimeout } = settings
  const servers = ports.map((port) => redisConnection(port, operationTimeout))
  const registers = redisConnection(registerPort, operationTimeout)
  const redlock = new Redlock(servers, { retryCount: 0 })
  redlock.on('error', () => {})
  const tryLock: TryLock = async (name, onLost) => {
    try {
      return new RedlockLock(await redlock.acquire([name], ttl), { interval, ttl, onLost })
    } catch (error) {
      if (await isRefusal(error)) return undefined
      throw error
    }
  }
  return Promise.resolve({
    lease: (name, owner, clock) => new RivalLease(tryLock, { name, owner, clock }),
    register: (name) => plainRegister(registers, name),
    close: async () => {
      for (const redis of [...servers, registers]) redis.disconnect()
    },
  })
}

/** Whether every vote against was that the lock is taken: redlock gives the same error when servers do not answer. */
async function isRefusal(error: unknown): Promise<boolean> {
  const { attempts = [] } = error as FailedAttempts
  const votes = await Promise.all(attempts)
  return (
    votes.length > 0 &&
    votes.every(({ votesAgainst }) => [...votesAgainst.values()].every(({ name }) => name === 'ResourceLockedError'))
  )
}
