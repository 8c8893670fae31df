import { type RedisClient, rivals } from '../redis-client.js'
import { type Chosen, everything, type Library, type Setting, type Use } from './contender.js'
import { heldInUsing } from './held-while.js'
import { briskPause } from './polling.js'

interface Options {
  retryAttempts?: number
  retryDelay?: number
  performance?: 'lean'
  /** Of its adapter: its own time limit of a command. */
  timeout?: number
}

interface Lock {
  acquire(): Promise<unknown>
  release(handle: unknown): Promise<unknown>
  using(work: (signal: AbortSignal) => Promise<void>): Promise<void>
}

interface Package {
  readonly createLock: (options: Omit<Options, 'timeout'> & { adapter: unknown; key: string; ttl: number }) => Lock
  readonly IoredisAdapter: new (client: RedisClient, options: { timeout?: number }) => unknown
}

/** It takes whole numbers only, so not ∞. */
const MANY_ATTEMPTS = 1_000_000_000

function choose(setting: Setting, { purpose, role, waiters }: Use): Chosen<Options> {
  const waiting: Options = role === 'waiter' ? { retryAttempts: MANY_ATTEMPTS } : {}
  if (setting === 'default') return { library: waiting, client: {} }
  if (purpose === 'cycles') return { library: { performance: 'lean' }, client: { enableAutoPipelining: true } }
  if (purpose === 'holding') return { library: { performance: 'lean' }, client: {} }
  if (role === 'waiter') return { library: { ...waiting, retryDelay: briskPause(waiters) }, client: {} }
  // When `using` extends cannot be set; how long it waits for the answer can.
  return purpose === 'hand-over' ? { library: {}, client: {} } : { library: { timeout: 150 }, client: {} }
}

export function redlockUniversal(): Library<Options> {
  return {
    name: 'redlock-universal',
    version: rivals.versionOf('redlock-universal'),
    settings: { default: everything, tuned: everything },
    holders: 10,
    choose,
    open: (client, { timeout, ...options }, { ttl }) => {
      const { createLock, IoredisAdapter } = rivals.load<Package>('redlock-universal')
      const adapter = new IoredisAdapter(client, timeout === undefined ? {} : { timeout })
      const lockOn = (name: string): Lock => createLock({ ...options, adapter, key: name, ttl })
      return {
        hold: (name) => {
          const lock = lockOn(name)
          return heldInUsing((work) => lock.using(work))
        },
        cycle: (name) => {
          const lock = lockOn(name)
          return async () => {
            await lock.release(await lock.acquire())
          }
        },
      }
    },
  }
}
