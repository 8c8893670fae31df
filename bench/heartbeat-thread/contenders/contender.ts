import type { Session } from '../../redis/contenders/contender.js'

/** Of all locks that a process loses, in milliseconds. */
export const TTL = 2_000

/** Where the locks are kept. */
export interface Place {
  /** Of the store on this machine. */
  readonly folder: string
  /** Of the Redis server. */
  readonly port: number
}

export interface Use {
  readonly role: 'holder' | 'waiter'
  readonly selfFence?: 'exit' | 'kill' | undefined
  /** Only leases of a heartbeat thread end by it. Milliseconds. */
  readonly unresponsiveAfter?: number | undefined
  /** The holder is to lose the lock although its event loop runs. The locks on Redis lose their connection instead. */
  readonly isNeverRenewed?: boolean | undefined
}

/** A library, in its default settings except for the ttl. */
export interface Contender {
  readonly id: string
  /** Its name and its version. */
  readonly label: string
  readonly ours: boolean
  /** Its locks are not lost while the event loop is blocked. */
  readonly isThreaded: boolean
  readonly isOnRedis: boolean
  open(place: Place, use: Use): Promise<Holder>
}

/** Holds locks for work that ends only when they are released. */
export type Holder = Pick<Session, 'hold'>
