/**
 * A process of its own that contends for one lock until it is killed, by an old library or by a lease with `compat`:
 * `old-and-new.ts <task as JSON>`. It releases and ends on SIGTERM.
 */

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLease } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'
import { RedisLeaseStore } from '@leasehold/redis'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { Redis } from 'ioredis'
import Redlock from 'redlock'
import type { OldAndNewTask } from './rolling-deployment.js'

const { port, owner, library, isOld, key, ttl, work, pause, semaphorePath } = JSON.parse(process.argv[2] ?? '') as OldAndNewTask
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()
let isLeaving = false
process.once('SIGTERM', () => {
  isLeaving = true
})

const client = new Redis(port, { maxRetriesPerRequest: 1 })
client.on('error', () => {})

/** Looks often whether it holds, and says since when and until when it did. */
async function report(holds: () => boolean, token?: bigint): Promise<void> {
  if (!holds()) return
  const from = machineTime()
  for (let saidAt = 0; ; ) {
    // Before the look: at some later instant it still held.
    const to = machineTime()
    if (!holds()) return
    const isDone = to - from > work
    if (isDone || to - saidAt > 20) {
      const said = { name: key, owner, ...(token !== undefined && { token: String(token) }), from, to }
      process.stdout.write(`${JSON.stringify(said)}\n`)
      saidAt = to
    }
    if (isDone) return
    await sleep(2)
  }
}

type Turn = () => Promise<void>

/** Of redlock, extended by hand: `using` keeps its expiry to itself. */
function byRedlock(): Turn {
  const redlock = new Redlock([client], { retryCount: -1, retryDelay: 20, retryJitter: 10 })
  redlock.on('error', () => {})
  return async () => {
    let lock = await redlock.acquire([key], ttl)
    const extending = setInterval(async () => {
      lock = await lock.extend(ttl).catch(() => lock)
    }, ttl / 3)
    try {
      await report(() => Date.now() < lock.expiration)
    } finally {
      clearInterval(extending)
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
    const mutex = new Mutex(client, key, options)
    await mutex.acquire()
    try {
      await report(() => mutex.isAcquired)
    } finally {
      await mutex.release()
    }
  }
}

function byLease(): Turn {
  const times = { heartbeatTimeout: ttl, heartbeatInterval: ttl / 8, operationTimeout: ttl / 2 }
  const lease = createLease(new RedisLeaseStore(client, { compat: library }), key, {
    ...times,
    owner,
    logger: silentLogger,
  })
  lease.on('error', () => {})
  return async () => {
    if (!(await lease.acquire({ wait: 60_000 }))) return
    const token = lease.fencingToken
    await report(() => lease.checkLease() && lease.fencingToken === token, token)
    await lease.release()
  }
}

const turn = isOld ? (library === 'redlock' ? byRedlock() : byRedisSemaphore()) : byLease()
process.stdout.write('contends\n')
// The pause lets those in that ask now and then: a lease passes from one waiter to the next at once.
while (!isLeaving) {
  await turn().catch(() => {})
  await sleep(pause)
}
process.exit()
