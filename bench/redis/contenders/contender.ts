import type { Chart } from '../../support/chart.js'
import { type ClientOptions, connected, openClient, type RedisClient } from '../redis-client.js'

export type Purpose = 'overlap' | 'hand-over' | 'holding' | 'cycles' | 'event-loop-lag'

export const everything: readonly Purpose[] = ['overlap', 'hand-over', 'holding', 'cycles', 'event-loop-lag']

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

/** A library, in all of its settings. */
export interface Library<Options extends object> {
  /** Its name on npm. */
  readonly name: string
  /** The version that is installed; ours has none. */
  readonly version?: string | undefined
  /** The settings, with the numbers that each is a candidate for. */
  readonly settings: Readonly<Partial<Record<Setting, readonly Purpose[]>>>
  /** How many holders with a ttl of a second one process bears: of a library that renews without a pause, few. */
  readonly holders: number
  choose(setting: Setting, use: Use): Chosen<Options>
  open(client: RedisClient, options: Options, use: Use, setting: Setting): Locks
}

/** A library in one setting. */
export interface Contender extends Pick<Library<object>, 'holders'> {
  readonly id: string
  /** Its name on npm, and its version. */
  readonly library: string
  readonly setting: Setting
  /** Ours: what bounds are asked of. */
  readonly ours: boolean
  readonly purposes: readonly Purpose[]
  settingsFor(use: Use): Chosen<object>
  /** The library on a client of its own. */
  open(port: number, use: Use): Session
}

interface Locks {
  /** Waits until it is granted; from then on the library renews by itself. */
  hold(name: string): Promise<Held>
  /** One acquisition and release by the cheapest means that the library has, on objects that are made once. */
  cycle(name: string): () => Promise<void>
  close?(): Promise<void>
}

export interface Session extends Omit<Locks, 'close'> {
  /** So that no time limit of a first command has to cover the making of the connection. */
  connected(): Promise<void>
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

export interface View {
  readonly means: string
  believes(): boolean
}

export function contendersOf(library: Library<object>): readonly Contender[] {
  const { name, version, holders } = library
  return Object.entries(library.settings).map(([key, purposes]) => {
    const setting = key as Setting
    return {
      id: `${name.replace(/^@(\w+).*/, '$1')}-${setting.replace(' ', '-')}`,
      library: version === undefined ? name : `${name} ${version}`,
      setting,
      ours: version === undefined,
      purposes,
      holders,
      settingsFor: (use) => library.choose(setting, use),
      open: (port, use) => {
        const { library: options, client: clientOptions } = library.choose(setting, use)
        const client = openClient(port, clientOptions)
        const { close, ...locks } = library.open(client, options, use, setting)
        return {
          ...locks,
          connected: () => connected(client),
          disconnect: () => {
            close?.().catch(() => {})
            client.disconnect()
          },
        }
      },
    }
  })
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

/** A library and its setting, as a row begins with it. */
export function nameOf({ library, setting, ours }: Contender): string {
  return ours ? `**${library}**, ${setting}` : `${library}, ${setting}`
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

/** A chart with one bar for each contender. */
export function chartOf<R extends { readonly contender: Contender }>(
  title: string,
  results: readonly R[],
  figure: (result: R) => number,
): Chart {
  const bars = results.map((result) => {
    const { library, setting, ours } = result.contender
    return { label: `${library}, ${setting}`, value: figure(result), ours }
  })
  return { title, bars }
}
