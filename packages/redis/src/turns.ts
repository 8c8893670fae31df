import type { Clock } from '@leasehold/core'
import type { AbortableCall, StoreCall } from '@leasehold/core/store'
import { closedError, type MessageListeners, Subscription, untilAborted } from '@leasehold/core/store-kit'
import type { Connection } from './client/connection.js'
import { type LazyConnection, STALL_TIMEOUT } from './client/lazy-connection.js'

/** The pauses before a broken subscription is renewed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2_000

/** How long an attempt to subscribe may take, in milliseconds: a dead connection may never report an error. */
const SUBSCRIBE_TIMEOUT = 5_000

/** The server echoes each poll over the channel. The subscription is dead after this time without an echo, in milliseconds. */
const ECHO_TIMEOUT = 2_000
const ECHO = 'here'

/**
 * The messages of the server to this store, over one channel: `turn <grant id>` when it may be that waiter's turn, and
 * `free <key>` when the name may be free.
 */
export class Turns {
  readonly channel: string
  readonly #lazy: LazyConnection
  readonly #clock: Clock
  readonly #messages: MessageListeners
  readonly #subscription: Subscription
  #connection: Connection | undefined
  #heardAt = Number.NEGATIVE_INFINITY
  #cancelEcho: (() => void) | undefined

  constructor(lazy: LazyConnection, clock: Clock, random: () => number, channel: string, messages: MessageListeners) {
    this.#lazy = lazy
    this.#messages = messages
    this.#clock = clock
    this.channel = channel
    const open = (call: AbortableCall) => this.#open(call)
    const pauses = { firstPause: FIRST_PAUSE, longestPause: LONGEST_PAUSE }
    this.#subscription = new Subscription({ open, timeout: SUBSCRIBE_TIMEOUT, ...pauses }, messages, clock, random)
  }

  get isSubscribed(): boolean {
    return this.#subscription.isOpen
  }

  /** Expects an echo: a waiter has repeated its claim, so the server has sent one after that instant. */
  expectEcho(since: number): void {
    const connection = this.#connection
    if (connection === undefined || this.#cancelEcho !== undefined) return
    const look = (): void => {
      this.#cancelEcho = undefined
      if (this.#heardAt < since && this.#connection === connection) this.#lazy.drop(connection)
    }
    this.#cancelEcho = this.#clock.schedule(ECHO_TIMEOUT, () => {
      // After a blocked event loop, the messages that came meanwhile are read first.
      this.#cancelEcho = this.#clock.schedule(0, look)
    })
  }

  /** Resolves when messages reach this store. Rejects with the reason of the abort, or of the failure. */
  async subscribed(call: StoreCall): Promise<void> {
    if (this.isSubscribed) return
    try {
      await untilAborted(this.#subscription.opened(), call)
    } catch (error) {
      // The next caller must not wait for a connection that is silent.
      if (call.aborted && this.#subscription.openingFor >= STALL_TIMEOUT) {
        this.#subscription.giveUpOpening(new Error('the connection is silent'))
      }
      throw error
    }
  }

  close(): void {
    this.#cancelEcho?.()
    this.#subscription.close(closedError('redis'))
    this.#lazy.close()
    this.#messages.close()
  }

  async #open(call: AbortableCall): Promise<void> {
    call.onAbort(() => this.#lazy.giveUpOpening())
    const connection = await this.#lazy.connect()
    call.onAbort(() => {
      this.#connection = undefined
      this.#lazy.drop(connection)
    })
    connection.onEnd(() => call.abort(new Error('the connection has ended')))
    await connection.subscribe(this.channel, (message) => this.#onMessage(message))
    if (!call.aborted) this.#connection = connection
  }

  #onMessage(message: string): void {
    this.#heardAt = this.#clock.now()
    if (message !== ECHO) this.#messages.notify(message)
  }
}
