import { connected, openClient, type RedisClient } from '../redis-client.js'
import { rival, versionOf } from '../rivals.js'
import type { Chosen, Contender, Session, Setting, Use } from './contender.js'
import { heldInUsing } from './held-in-using.js'
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

function chosenFor(setting: Setting, { purpose, role, waiters }: Use): Chosen<Options> {
  const waiting: Options = role === 'waiter' ? { retryAttempts: MANY_ATTEMPTS } : {}
  if (setting === 'default') return { library: waiting, client: {} }
  if (purpose === 'cycles') return { library: { performance: 'lean' }, client: { enableAutoPipelining: true } }
  if (purpose === 'holding') return { library: { performance: 'lean' }, client: {} }
  if (role === 'waiter') return { library: { ...waiting, retryDelay: briskPause(waiters) }, client: {} }
  // When `using` extends cannot be set; how long it waits for the answer can.
  return purpose === 'hand-over' ? { library: {}, client: {} } : { library: { timeout: 150 }, client: {} }
}

function open(setting: Setting, port: number, use: Use): Session {
  const { library, client: clientOptions } = chosenFor(setting, use)
  const { timeout, ...options } = library
  const client = openClient(port, clientOptions)
  const { createLock, IoredisAdapter } = rival<Package>('redlock-universal')
  const adapter = new IoredisAdapter(client, timeout === undefined ? {} : { timeout })
  const lockOn = (name: string): Lock => createLock({ ...options, adapter, key: name, ttl: use.ttl })
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
    connected: () => connected(client),
    disconnect: () => client.disconnect(),
  }
}

export function redlockUniversalContenders(): readonly Contender[] {
  return (['default', 'tuned'] as const).map((setting) => ({
    id: `redlock-universal-${setting}`,
    library: `redlock-universal ${versionOf('redlock-universal')}`,
    setting,
    ours: false,
    purposes: ['overlap', 'hand-over', 'holding', 'cycles', 'event-loop-lag'],
    holders: 10,
    settingsFor: (use) => chosenFor(setting, use),
    open: (port, use) => open(setting, port, use),
  }))
}
