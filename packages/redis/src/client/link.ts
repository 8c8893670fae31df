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
    if (this.#opening === undefined) {
      const given = new AbortController()
      this.#opening = { since: this.#clock.now(), given, promise: this.#open(given.signal) }
      this.#opening.promise.catch(() => {})
    }
    return this.#opening.promise
  }

  /** Ends a connection that does not answer, or leads to a server that cannot serve. */
  drop(connection: Connection): void {
    if (this.#current === connection) this.#current = undefined
    connection.destroy()
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
    if (this.#current !== undefined) this.drop(this.#current)
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    try {
      const connection = await this.#dialect.open(signal)
      if (signal.aborted) {
        connection.destroy()
        throw new LeaseUnavailableError('the connection took too long to open', { store: 'redis' })
      }
      this.#current = connection
      connection.onEnd(() => {
        if (this.#current === connection) this.#current = undefined
      })
      return connection
    } finally {
      if (!signal.aborted) this.#opening = undefined
    }
  }
}

export function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the store is closed: make a new one', { store: 'redis' })
}
