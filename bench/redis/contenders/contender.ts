import type { ClientOptions } from '../redis-client.js'

export type Purpose = 'overlap' | 'hand-over' | 'holding' | 'cycles' | 'event-loop-lag'

/** `by hand`: what the library is at its best when its user writes the renewal. */
export type Setting = 'default' | 'tuned' | 'by hand'

/** What a library is to do, so that its settings can be chosen for it. */
export interface Use {
  readonly purpose: Purpose
  readonly role: 'holder' | 'waiter'
  /** Milliseconds. */
  readonly ttl: number
  /** How many wait for the same name at once. */
  readonly waiters: number
}

/** What is set: as it is handed to the library and to the client, and as it is shown. */
export interface Chosen<Options> {
  readonly library: Options
  readonly client: ClientOptions
}

/** A library in one setting. */
export interface Contender {
  readonly id: string
  /** Its name on npm, and its version. */
  readonly library: string
  readonly setting: Setting
  /** Ours: what bounds are asked of. */
  readonly ours: boolean
  /** The numbers that this setting is a candidate for. */
  readonly purposes: readonly Purpose[]
  /** How many holders with a ttl of a second one process bears: of a library that renews without a pause, few. */
  readonly holders: number
  settingsFor(use: Use): Chosen<object>
  /** The library on a client of its own. */
  open(port: number, use: Use): Session
}

export interface Session {
  /** So that no time limit of a first command has to cover the making of the connection. */
  connected(): Promise<void>
  /** Waits until it is granted; from then on the library renews by itself. */
  hold(name: string): Promise<Held>
  /** One acquisition and release by the cheapest means that the library has, on objects that are made once. */
  cycle(name: string): () => Promise<void>
  /** Ends the connections, whatever is under way. */
  disconnect(): void
}

export interface Held {
  /** Every means by which the library tells its user, without I/O, whether the lock is held. */
  readonly views: readonly View[]
  /** Calls back when the library tells of the loss by itself. */
  onLoss(listener: () => void): void
  release(): Promise<void>
}

/** Holds an uncontended name, and tries again where the machine was too slow for a time limit. */
export async function holdSurely(session: Session, name: string): Promise<Held> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await session.hold(name)
    } catch (error) {
      if (attempts === 5) throw error
    }
  }
}

export interface View {
  readonly means: string
  believes(): boolean
}

/** What is set, in words: `retryDelay 2, retryJitter 1; client: commandTimeout 100`; or `as it comes`. */
export function describe({ library, client }: Chosen<object>): string {
  const parts = [listed(library), listed(client, 'client: ')].filter((part) => part !== '')
  return parts.length === 0 ? 'as it comes' : parts.join('; ')
}

function listed(options: object, before = ''): string {
  const entries = Object.entries(options).map(([key, value]) => `${key} ${shownValue(value)}`)
  return entries.length === 0 ? '' : before + entries.join(', ')
}

function shownValue(value: unknown): string {
  return value === Number.POSITIVE_INFINITY ? '∞' : String(value)
}
