import { type Clock, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall, type MessageListeners, type StoreCall, untilAborted } from '@leasehold/core/store'
import type { Connection } from './client/connection.js'
import { closedError, type LazyConnection, STALL_TIMEOUT } from './client/lazy-connection.js'

/** The pauses before a broken subscription is renewed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2_000

/** How long an attempt to subscribe may take, in milliseconds: a dead connection may never report an error. */
const SUBSCRIBE_TIMEOUT = 5_000

/** The server echoes each poll over the channel. Without an echo for so many milliseconds, the subscription is dead. */
const ECHO_TIMEOUT = 2_000
const ECHO = 'here'

/**
 * The messages of the server to this store, over one channel: `turn <grant id>` when it may be that waiter's turn, and
 * `free <key>` when the name may be free. Messages may be lost while the subscription is broken: when it is renewed, all
 * listeners are notified.
 */
export class Turns {
  readonly channel: string
  readonly #lazy: LazyConnection
  readonly #clock: Clock
  readonly #messages: MessageListeners
  #isClosed = false
  #subscribing: Promise<void> | undefined
  #connection: Connection | undefined
  #openedAt = Number.NEGATIVE_INFINITY
  #heardAt = Number.NEGATIVE_INFINITY
  #cancelEcho: (() => void) | undefined
  #failures = 0
  #cancelRetry: (() => void) | undefined

  constructor(lazy: LazyConnection, clock: Clock, channel: string, messages: MessageListeners) {
    this.#lazy = lazy
    this.#messages = messages
    this.#clock = clock
    this.channel = channel
  }

  get isSubscribed(): boolean {
    return this.#connection !== undefined
  }

  /** A waiter has repeated its claim, so that the server has sent an echo after that instant. */
  expectEcho(since: number): void {
    const connection = this.#connection
    if (connection === undefined || this.#cancelEcho !== undefined) return
    const look = (): void => {
      this.#cancelEcho = undefined
      if (this.#heardAt < since && this.#connection === connection) this.#lazy.drop(connection)
    }
    this.#cancelEcho = this.#clock.schedule(ECHO_TIMEOUT, () => {
      // After a blocked event loop, messages are read first that have come meanwhile.
      this.#cancelEcho = this.#clock.schedule(0, look)
    })
  }

  /** Resolves when messages reach this store. Rejects with the reason of the abort, or of the failure. */
  async subscribed(call: StoreCall): Promise<void> {
    if (this.isSubscribed) return
    try {
      await untilAborted(this.#subscribe(), call)
    } catch (error) {
      if (call.aborted) this.#giveUpIfSlow()
      throw error
    }
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry?.()
    this.#cancelEcho?.()
    this.#lazy.close()
    this.#messages.close()
  }

  #subscribe(): Promise<void> {
    this.#subscribing ??= this.#open().finally(() => {
      this.#subscribing = undefined
    })
    return this.#subscribing
  }

  /** The next caller must not wait for a connection that is silent. */
  #giveUpIfSlow(): void {
    if (this.#clock.now() - this.#openedAt < STALL_TIMEOUT) return
    this.#lazy.giveUpOpening()
    if (this.#lazy.current !== undefined) this.#lazy.drop(this.#lazy.current)
  }

  async #open(): Promise<void> {
    if (this.#isClosed) throw closedError()
    this.#openedAt = this.#clock.now()
    const limit = new AbortableCall(SUBSCRIBE_TIMEOUT)
    const giveUp = (message: string): void => limit.abort(new LeaseUnavailableError(message, { store: 'redis' }))
    const cancel = this.#clock.schedule(SUBSCRIBE_TIMEOUT, () => {
      this.#lazy.giveUpOpening()
      giveUp('the subscription took too long')
    })
    let connection: Connection | undefined
    try {
      connection = await untilAborted(this.#lazy.connect(), limit)
      connection.onEnd(() => giveUp('the connection has ended'))
      await untilAborted(
        connection.subscribe(this.channel, (message) => this.#onMessage(message)),
        limit,
      )
    } catch (error) {
      if (connection !== undefined) this.#lazy.drop(connection)
      throw error
    } finally {
      cancel()
    }
    const subscribed = connection
    this.#connection = subscribed
    this.#failures = 0
    subscribed.onEnd(() => this.#onEnd(subscribed))
    // Messages sent between two subscriptions are lost.
    this.#messages.notifyAll()
  }

  #onEnd(connection: Connection): void {
    this.#connection = undefined
    this.#lazy.drop(connection)
    this.#retryLater()
  }

  #retryLater(): void {
    if (this.#isClosed || this.#messages.size === 0) return
    const pause = Math.min(FIRST_PAUSE * 2 ** Math.min(this.#failures, 16), LONGEST_PAUSE)
    this.#failures += 1
    this.#cancelRetry?.()
    this.#cancelRetry = this.#clock.schedule(pause * (0.5 + 0.5 * Math.random()), () => {
      if (this.isSubscribed) return
      this.#subscribe().catch(() => this.#retryLater())
    })
  }

  #onMessage(message: string): void {
    this.#heardAt = this.#clock.now()
    if (message !== ECHO) this.#messages.notify(message)
  }
}
