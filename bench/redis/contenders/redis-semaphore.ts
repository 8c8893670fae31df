import { type RedisClient, rivals } from '../redis-client.js'
import { type Chosen, everything, type Library, type Setting, type Use } from './contender.js'
import { HeldLock, type LockUse } from './held-lock.js'
import { briskPause, LONG_WAIT, RHYTHM } from './polling.js'

interface Options {
  acquireTimeout?: number
  retryInterval?: number
  refreshInterval?: number
}

interface Mutex {
  readonly isAcquired: boolean
  acquire(): Promise<void>
  release(): Promise<void>
}

interface Package {
  readonly Mutex: new (
    client: RedisClient,
    key: string,
    options: Options & { lockTimeout: number; onLockLost: () => void },
  ) => Mutex
}

function choose(setting: Setting, { purpose, role, ttl, waiters }: Use): Chosen<Options> {
  const waiting: Options = role === 'waiter' ? { acquireTimeout: LONG_WAIT } : {}
  if (setting === 'default') return { library: waiting, client: {} }
  if (purpose === 'cycles') return { library: { refreshInterval: 0 }, client: { enableAutoPipelining: true } }
  if (purpose === 'holding') return { library: { refreshInterval: RHYTHM }, client: {} }
  if (role === 'waiter') return { library: { ...waiting, retryInterval: briskPause(waiters) }, client: {} }
  if (purpose === 'hand-over') return { library: {}, client: {} }
  return { library: { refreshInterval: ttl / 4 }, client: { commandTimeout: 150 } }
}

const mutexUse: LockUse<Mutex> = {
  // Set together with the call of `onLockLost`: one view, not two.
  views: (mutex) => [{ means: '`isAcquired`, `onLockLost`', believes: () => mutex.isAcquired }],
  release: (mutex) => mutex.release(),
}

export function redisSemaphore(): Library<Options> {
  return {
    name: 'redis-semaphore',
    version: rivals.versionOf('redis-semaphore'),
    settings: { default: everything, tuned: everything },
    holders: 50,
    choose,
    open: (client, options, { ttl }) => {
      const { Mutex } = rivals.load<Package>('redis-semaphore')
      const mutexOn = (name: string, onLockLost: () => void): Mutex =>
        new Mutex(client, name, { ...options, lockTimeout: ttl, onLockLost })
      return {
        hold: async (name) => {
          const held = new HeldLock(mutexUse, (onLockLost) => mutexOn(name, onLockLost))
          await held.lock.acquire()
          return held
        },
        cycle: (name) => {
          const mutex = mutexOn(name, () => {})
          return async () => {
            await mutex.acquire()
            await mutex.release()
          }
        },
      }
    },
  }
}
