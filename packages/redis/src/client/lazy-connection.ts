import { type Clock, LeaseConfigurationError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { closedError, untilAborted } from '@leasehold/core/store-kit'
import type { ClientAdapter, Connection } from './connection.js'
import { isReply } from './server-reply.js'
import { type Address, wrongTransport } from './transport.js'

/**
 * Once an operation over a connection has timed out, the connection is dropped if it has been silent for at least this
 * time, in milliseconds, and for half of the time that the operation took.
 */
export const STALL_TIMEOUT = 500

/** The silence, in milliseconds, after which the server is asked for its transport, and the time that it has to answer. */
const SILENCE = 1_500
const LOOK_TIMEOUT = 1_000

interface Opening {
  readonly since: number
  readonly call: AbortableCall
  readonly promise: Promise<Connection>
}

/** A connection that is opened at its first use, and again at the first use after it has ended. */
export class LazyConnection {
  readonly #adapter: ClientAdapter
  readonly #clock: Clock
  #current: Connection | undefined
  #opening: Opening | undefined
  #isClosed = false
  /** Whether a connection was open before: then the client uses the right transport. */
  #wasOpen = false
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
    if (this.#isClosed) return Promise.reject(closedError('redis'))
    return this.#current === undefined ? this.#begin() : Promise.resolve(this.#current)
  }

  /** Ends a connection that is silent, or that leads to a server that cannot serve. */
  drop(connection: Connection): void {
    if (this.#current === connection) this.#current = undefined
    connection.destroy()
  }

  /**
   * Opens another connection, in place of one to several nodes, some of which are silent. The old one stays in use until
   * then, and ends with its last open call.
   */
  replace(connection: Connection): void {
    if (this.#current === connection && !this.#isClosed) this.#begin().catch(() => {})
  }

  /** Ends an attempt that takes too long; the next caller begins another one. */
  giveUpOpening(): void {
    const opening = this.#opening
    this.#opening = undefined
    opening?.call.abort(new LeaseUnavailableError('the connection took too long to open', { store: 'redis' }))
  }

  close(): void {
    this.#isClosed = true
    this.giveUpOpening()
    for (const connection of this.#retired) connection.destroy()
    if (this.#current !== undefined) this.drop(this.#current)
  }

  #begin(): Promise<Connection> {
    if (this.#opening === undefined) {
      const call = new AbortableCall()
      this.#opening = { since: this.#clock.now(), call, promise: this.#open(call) }
      this.#opening.promise.catch(() => {})
    }
    return this.#opening.promise
  }

  async #open(call: StoreCall): Promise<Connection> {
    const connection = this.#adapter.newConnection()
    try {
      await untilAborted(this.#connected(connection), call)
      this.#wasOpen = true
      if (call.aborted) throw call.signal.reason
    } catch (error) {
      connection.destroy()
      throw error
    } finally {
      if (!call.aborted) this.#opening = undefined
    }
    this.#retire()
    this.#current = connection
    connection.onEnd(() => {
      if (this.#current === connection) this.#current = undefined
    })
    return connection
  }

  /** Rejects with a `LeaseConfigurationError` if the server speaks TLS and the client does not, or the reverse. */
  async #connected(connection: Connection): Promise<void> {
    const { address } = this.#adapter
    if (address === undefined || this.#wasOpen) return await connection.connect()
    let cancel = (): void => {}
    const silence = new Promise<never>((_, reject) => {
      const look = async (): Promise<void> => {
        const fault = await this.#faultAt(address)
        if (fault !== undefined) reject(fault)
      }
      cancel = this.#clock.schedule(SILENCE, () => void look())
    })
    try {
      await Promise.race([connection.connect(), silence])
    } catch (error) {
      if (isReply(error) || error instanceof LeaseConfigurationError) throw error
      throw (await this.#faultAt(address)) ?? error
    } finally {
      cancel()
    }
  }

  async #faultAt(address: Address): Promise<LeaseConfigurationError | undefined> {
    const call = new AbortableCall(LOOK_TIMEOUT)
    const cancel = this.#clock.schedule(LOOK_TIMEOUT, () => call.abort(undefined))
    return await wrongTransport(address, call).finally(cancel)
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
