import { type Clock, LeaseUnavailableError } from '@leasehold/core'
import type { Connection, Dialect } from './connection.js'

/** After how many milliseconds without any answer a connection is given up, when somebody's time limit is over. */
export const PATIENCE = 500

interface Opening {
  readonly since: number
  readonly given: AbortController
  readonly promise: Promise<Connection>
}

/** A connection that is opened when somebody needs it, and opened anew by the next who does after it ended. */
export class Link {
  readonly #dialect: Dialect
  readonly #clock: Clock
  #current: Connection | undefined
  #opening: Opening | undefined
  #isClosed = false
  /** Those that were replaced, with what is still under way over them. */
  readonly #retired = new Set<Connection>()

  constructor(dialect: Dialect, clock: Clock) {
    this.#dialect = dialect
    this.#clock = clock
  }

  /** The connection, while there is one. */
  get current(): Connection | undefined {
    return this.#current
  }

  /** For how long a connection has been being opened, in milliseconds. */
  get openingFor(): number {
    return this.#opening === undefined ? 0 : this.#clock.now() - this.#opening.since
  }

  /** All who ask while it is being opened share the attempt, and how it ends. */
  connect(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(closedError())
    if (this.#current !== undefined) return Promise.resolve(this.#current)
    return this.#begin()
  }

  /** Ends a connection that does not answer, or leads to a server that cannot serve. */
  drop(connection: Connection): void {
    if (this.#current === connection) this.#current = undefined
    connection.destroy()
  }

  /**
   * Opens another in the place of one that leads to several servers, some of which do not answer. It is used until the
   * other is open, and ends when nothing is under way over it any more.
   */
  replace(connection: Connection): void {
    if (this.#current === connection && !this.#isClosed) this.#begin().catch(() => {})
  }

  /** Ends an attempt that takes too long; the next who needs a connection begins another. */
  giveUpOpening(): void {
    const opening = this.#opening
    this.#opening = undefined
    opening?.given.abort()
  }

  close(): void {
    this.#isClosed = true
    this.giveUpOpening()
    for (const connection of this.#retired) connection.destroy()
    if (this.#current !== undefined) this.drop(this.#current)
  }

  #begin(): Promise<Connection> {
    if (this.#opening === undefined) {
      const given = new AbortController()
      this.#opening = { since: this.#clock.now(), given, promise: this.#open(given.signal) }
      this.#opening.promise.catch(() => {})
    }
    return this.#opening.promise
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const opened = this.#dialect.open(signal)
    try {
      // A client that is told to end while it connects may never say so.
      const connection = await Promise.race([opened, given(signal)])
      if (signal.aborted) throw gaveUp()
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

function given(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(gaveUp()), { once: true })
  })
}

function gaveUp(): LeaseUnavailableError {
  return new LeaseUnavailableError('the connection took too long to open', { store: 'redis' })
}

export function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the store is closed: make a new one', { store: 'redis' })
}
