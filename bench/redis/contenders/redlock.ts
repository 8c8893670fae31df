import { type RedisClient, rivals } from '../redis-client.js'
import { type Chosen, everything, type Held, type Library, type Setting, type Use } from './contender.js'
import { heldInUsing } from './held-while.js'
import { briskPause, RHYTHM } from './polling.js'

interface Settings {
  driftFactor?: number
  retryCount?: number
  retryDelay?: number
  retryJitter?: number
  automaticExtensionThreshold?: number
}

interface Lock {
  readonly expiration: number
  release(): Promise<unknown>
  extend(duration: number): Promise<Lock>
}

interface Redlock {
  acquire(resources: string[], duration: number): Promise<Lock>
  using(resources: string[], duration: number, work: (signal: AbortSignal) => Promise<void>): Promise<void>
}

interface Package {
  readonly default: new (clients: RedisClient[], settings: Settings) => Redlock
}

/** `using` has 500 of 1,000 ms for its extension by default; without a time limit it waits for ever for an answer. */
const TIME_LIMIT = 150

function choose(setting: Setting, { purpose, role, ttl, waiters }: Use): Chosen<Settings> {
  const waiting: Settings = role === 'waiter' ? { retryCount: -1 } : {}
  if (setting === 'default') return { library: waiting, client: {} }
  if (purpose === 'cycles') return { library: {}, client: { enableAutoPipelining: true } }
  if (purpose === 'holding') return { library: { automaticExtensionThreshold: ttl - RHYTHM }, client: {} }
  const brisk = { ...waiting, retryDelay: briskPause(waiters), retryJitter: 1 }
  if (role === 'waiter') return { library: brisk, client: {} }
  if (purpose === 'hand-over') return { library: {}, client: {} }
  // Attempts that fail at once and an expiry that is counted early: the signal then comes before the expiry.
  const early: Settings = { retryCount: 0, driftFactor: setting === 'tuned' ? 0.15 : 0.01 }
  return { library: early, client: { commandTimeout: TIME_LIMIT } }
}

/** Its `using` keeps the lock, and with it the expiry, to itself: who wants to compare clocks renews by hand. */
async function heldByHand(redlock: Redlock, name: string, ttl: number): Promise<Held> {
  let lock = await redlock.acquire([name], ttl)
  let timer: NodeJS.Timeout | undefined
  const listeners: (() => void)[] = []
  const extend = async (): Promise<void> => {
    try {
      lock = await lock.extend(ttl)
      timer = setTimeout(extend, ttl / 4)
    } catch {
      if (lock.expiration > Date.now()) timer = setTimeout(extend, ttl / 50)
      else for (const listener of listeners) listener()
    }
  }
  timer = setTimeout(extend, ttl / 4)
  return {
    views: [{ means: '`lock.expiration`', believes: () => Date.now() < lock.expiration }],
    onLoss: (listener) => listeners.push(listener),
    release: async () => {
      clearTimeout(timer)
      await lock.release()
    },
  }
}

export function redlock(): Library<Settings> {
  return {
    name: 'redlock',
    version: rivals.versionOf('redlock'),
    settings: { default: everything, tuned: everything, 'by hand': ['overlap', 'event-loop-lag'] },
    holders: 50,
    choose,
    open: (client, settings, { ttl }, setting) => {
      const redlock = new (rivals.load<Package>('redlock').default)([client], settings)
      return {
        hold: (name) =>
          setting === 'by hand'
            ? heldByHand(redlock, name, ttl)
            : heldInUsing((work) => redlock.using([name], ttl, work)),
        cycle: (name) => async () => {
          const lock = await redlock.acquire([name], ttl)
          await lock.release()
        },
      }
    },
  }
}
