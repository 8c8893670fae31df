import { connected, openClient, type RedisClient } from '../redis-client.js'
import { rival, versionOf } from '../rivals.js'
import type { Chosen, Contender, Held, Purpose, Session, Setting, Use } from './contender.js'
import { heldInUsing } from './held-in-using.js'
import { briskPause } from './polling.js'

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

/** How often ours renews what it holds for long, for the same rhythm. */
const RHYTHM = 9_000

function chosenFor(setting: Setting, { purpose, role, ttl, waiters }: Use): Chosen<Settings> {
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

function open(setting: Setting, port: number, use: Use): Session {
  const { library, client: clientOptions } = chosenFor(setting, use)
  const client = openClient(port, clientOptions)
  const redlock = new (rival<Package>('redlock').default)([client], library)
  return {
    hold: (name) =>
      setting === 'by hand'
        ? heldByHand(redlock, name, use.ttl)
        : heldInUsing((work) => redlock.using([name], use.ttl, work)),
    cycle: (name) => async () => {
      const lock = await redlock.acquire([name], use.ttl)
      await lock.release()
    },
    connected: () => connected(client),
    disconnect: () => client.disconnect(),
  }
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

function redlockIn(setting: Setting, purposes: readonly Purpose[]): Contender {
  return {
    id: `redlock-${setting.replace(' ', '-')}`,
    library: `redlock ${versionOf('redlock')}`,
    setting,
    ours: false,
    purposes,
    holders: 50,
    settingsFor: (use) => chosenFor(setting, use),
    open: (port, use) => open(setting, port, use),
  }
}

export function redlockContenders(): readonly Contender[] {
  return [
    redlockIn('default', ['overlap', 'hand-over', 'holding', 'cycles', 'event-loop-lag']),
    redlockIn('tuned', ['overlap', 'hand-over', 'holding', 'cycles', 'event-loop-lag']),
    redlockIn('by hand', ['overlap', 'event-loop-lag']),
  ]
}
