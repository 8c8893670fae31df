/**
 * A process of its own that contends for one lock until it is killed, by an old library or by a lease with `compat`:
 * `old-and-new.ts <task as JSON>`. It releases and ends on SIGTERM.
 */
import { createRequire } from 'node:module'
import { createLease, systemClock } from '@leasehold/core'
import { wallTime } from '@leasehold/core/store-kit'
import { type OldRedisLibrary, RedisLeaseStore } from '@leasehold/redis'
import { contend, reportHolding, turnsUnder } from '@leasehold/testing/contention'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { Redis } from 'ioredis'
import Redlock from 'redlock'

/** The task of one process. */
export interface OldAndNewTask {
  readonly port: number
  readonly owner: string
  readonly library: OldRedisLibrary
  /** Whether it uses the library; otherwise it uses a lease with `compat`. */
  readonly isOld: boolean
  /** What the library calls the lock, and the name of the lease. */
  readonly name: string
  readonly ttl: number
  readonly work: number
  readonly pause: number
  /** Where redis-semaphore is, because it is not among the dependencies. */
  readonly semaphorePath?: string | undefined
}

const { port, owner, library, isOld, name, ttl, work, pause, semaphorePath } = JSON.parse(
  process.argv[2] ?? '',
) as OldAndNewTask

const client = new Redis(port, { maxRetriesPerRequest: 1 })
client.on('error', () => {})

type Turn = () => Promise<void>

/** Of redlock, extended by hand: `using` keeps its expiry to itself. */
function byRedlock(): Turn {
  const redlock = new Redlock([client], { retryCount: -1, retryDelay: 20, retryJitter: 10 })
  redlock.on('error', () => {})
  return async () => {
    let lock = await redlock.acquire([name], ttl)
    let isOver = false
    let cancel = (): void => {}
    const extendLater = (): void => {
      cancel = systemClock.schedule(ttl / 3, async () => {
        lock = await lock.extend(ttl).catch(() => lock)
        if (!isOver) extendLater()
      })
    }
    extendLater()
    try {
      await reportHolding({ name, owner, work }, () => wallTime() < lock.expiration)
    } finally {
      isOver = true
      cancel()
      await lock.release()
    }
  }
}

interface Mutex {
  readonly isAcquired: boolean
  acquire(): Promise<void>
  release(): Promise<void>
}

type MutexClass = new (client: Redis, key: string, options: object) => Mutex

function byRedisSemaphore(): Turn {
  const { Mutex } = createRequire(import.meta.url)(semaphorePath ?? 'redis-semaphore') as { Mutex: MutexClass }
  return async () => {
    const options = { lockTimeout: ttl, acquireTimeout: 60_000, retryInterval: 20, onLockLost: () => {} }
    const mutex = new Mutex(client, name, options)
    await mutex.acquire()
    try {
      await reportHolding({ name, owner, work }, () => mutex.isAcquired)
    } finally {
      await mutex.release()
    }
  }
}

function byLease(): Turn {
  const lease = createLease(new RedisLeaseStore(client, { compat: library }), name, {
    heartbeatTimeout: ttl,
    heartbeatInterval: ttl / 8,
    operationTimeout: ttl / 2,
    owner,
    logger: silentLogger,
  })
  return turnsUnder(lease, { name, owner, work })
}

await contend(isOld ? (library === 'redlock' ? byRedlock() : byRedisSemaphore()) : byLease(), pause)
