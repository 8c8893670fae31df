import { type Clock, LeaseUnavailableError } from '@leasehold/core'
import type { ClientAdapter, Connection } from './connection.js'

/** After how many milliseconds of silence a connection is dropped, once an operation over it has timed out. */
export const STALL_TIMEOUT = 500

interface Opening {
  readonly since: number
  readonly abandoned: AbortController
  readonly promise: Promise<Connection>
}

/** A connection that is opened at its first use, and again at the first use after it has ended. */
export class LazyConnection {
  readonly #adapter: ClientAdapter
  readonly #clock: Clock
  #current: Connection | undefined
  #opening: Opening | undefined
  #isClosed = false
  /** The connections that were replaced and still have open calls. */
  readonly #retired = new Set<Connection>()

  constructor(adapter: ClientAdapter, clock: Clock) {
    this.#adapter = adapter
    this.#clock = clock
  }

  get current(): Connection | undefined {
    return this.#current
  }

  /** For how many milliseconds the attempt to open a connection has lasted; 0 if there is none. */
  get openingFor(): number {
    return this.#opening === undefined ? 0 : this.#clock.now() - this.#opening.since
  }

  /** All callers share one attempt and its outcome. */
  connect(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(closedError())
    if (this.#current !== undefined) return Promise.resolve(this.#current)
    return this.#begin()
  }

  /** Ends a connection that is silent, or that leads to a server that cannot serve. */
  drop(connection: Connection): void {
    if (this.#current === connection) this.#current = undefined
    connection.destroy()
  }

  /**
   * For a connection to several nodes, some of which are silent: opens another one. The old one stays in use until then,
   * and ends with its last open call.
   */
  replace(connection: Connection): void {
    if (this.#current === connection && !this.#isClosed) this.#begin().catch(() => {})
  }

  /** Ends an attempt that takes too long; the next caller begins another one. */
  giveUpOpening(): void {
    const opening = this.#opening
    this.#opening = undefined
    opening?.abandoned.abort()
  }

  close(): void {
    this.#isClosed = true
    this.giveUpOpening()
    for (const connection of this.#retired) connection.destroy()
    if (this.#current !== undefined) this.drop(this.#current)
  }

  #begin(): Promise<Connection> {
    if (this.#opening === undefined) {
      const abandoned = new AbortController()
      this.#opening = { since: this.#clock.now(), abandoned, promise: this.#open(abandoned.signal) }
      this.#opening.promise.catch(() => {})
    }
    return this.#opening.promise
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const opened = this.#adapter.open(signal)
    try {
      // A client that is disconnected while it connects may never settle.
      const connection = await Promise.race([opened, rejectionOf(signal)])
      if (signal.aborted) throw tookTooLong()
      this.#retire()
      this.#current = connection
      connection.onEnd(() => {
        if (this.#current === connection) this.#current = undefined
      })
      return connection
    } catch (error) {
      if (signal.aborted) opened.then((connection) => connection.destroy()).catch(() => {})
      throw error
    } finally {
      if (!signal.aborted) this.#opening = undefined
    }
  }

  #retire(): void {
    const before = this.#current
    if (before === undefined) return
    this.#retired.add(before)
    before.traffic.whenIdle(() => {
      this.#retired.delete(before)
      before.destroy()
    })
  }
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(tookTooLong()), { once: true })
  })
}

function tookTooLong(): LeaseUnavailableError {
  return new LeaseUnavailableError('the connection took too long to open', { store: 'redis' })
}

export function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the redis store is closed: open a new one', { store: 'redis' })
}
