import { connected, openClient, type RedisClient } from '../redis-client.js'
import { rival, versionOf } from '../rivals.js'
import type { Chosen, Contender, Session, Setting, Use } from './contender.js'
import { HeldLock, type LockUse } from './held-lock.js'
import { briskPause, LONG_WAIT } from './polling.js'

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

/** How often ours renews what it holds for long, for the same rhythm. */
const RHYTHM = 9_000

function chosenFor(setting: Setting, { purpose, role, ttl, waiters }: Use): Chosen<Options> {
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

function open(setting: Setting, port: number, use: Use): Session {
  const { library, client: clientOptions } = chosenFor(setting, use)
  const client = openClient(port, clientOptions)
  const { Mutex } = rival<Package>('redis-semaphore')
  const mutexOn = (name: string, onLockLost: () => void): Mutex =>
    new Mutex(client, name, { ...library, lockTimeout: use.ttl, onLockLost })
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
    connected: () => connected(client),
    disconnect: () => client.disconnect(),
  }
}

export function redisSemaphoreContenders(): readonly Contender[] {
  return (['default', 'tuned'] as const).map((setting) => ({
    id: `redis-semaphore-${setting}`,
    library: `redis-semaphore ${versionOf('redis-semaphore')}`,
    setting,
    ours: false,
    purposes: ['overlap', 'hand-over', 'holding', 'cycles', 'event-loop-lag'],
    holders: 50,
    settingsFor: (use) => chosenFor(setting, use),
    open: (port, use) => open(setting, port, use),
  }))
}
