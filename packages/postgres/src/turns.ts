import type { Clock } from '@leasehold/core'
import { AbortableCall, type MessageListeners, type StoreCall, untilAborted } from '@leasehold/core/store'
import type { ClientAdapter, Subscription } from './client/connection.js'
import { closedError } from './failure-of.js'

/** The pauses before a broken subscription is renewed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 10_000

/** How long an attempt to subscribe, or an answer to a ping, may take, in milliseconds. */
const PATIENCE = 4_000

/** A connection that has ended without a word is noticed by a ping, so many milliseconds after the last one. */
const PING_INTERVAL = 15_000

const ECHO = 'here'

/**
 * The notifications of the server to this store, over one channel and a connection of its own: `turn <grant id>` when it may
 * be that waiter's turn, and `free <name>` when the name may be free. Where there is no such connection, or it brings no
 * notification (behind a PgBouncer in transaction mode), waiters have to poll.
 */
export class Turns {
  readonly channel: string
  readonly #adapter: Pick<ClientAdapter, 'listen'>
  readonly #clock: Clock
  readonly #messages: MessageListeners
  /** Sends a notification to the channel, over another connection. */
  readonly #notifySelf: (message: string, call: StoreCall) => Promise<unknown>
  #isClosed = false
  #subscribing: Promise<void> | undefined
  #subscription: Subscription | undefined
  #failures = 0
  #cancelRetry: (() => void) | undefined
  #cancelPing: (() => void) | undefined
  #onEcho: (() => void) | undefined

  constructor(
    adapter: Pick<ClientAdapter, 'listen'>,
    clock: Clock,
    channel: string,
    messages: MessageListeners,
    notifySelf: (message: string, call: StoreCall) => Promise<unknown>,
  ) {
    this.#adapter = adapter
    this.#clock = clock
    this.channel = channel
    this.#messages = messages
    this.#notifySelf = notifySelf
  }

  /** Whether notifications come: otherwise waiters have to poll. */
  get isHearing(): boolean {
    return this.#subscription !== undefined
  }

  /** Opens the connection, unless it is open. Listeners are notified when that is done. */
  subscribe(): void {
    if (this.isHearing || this.#adapter.listen === undefined || this.#cancelRetry !== undefined) return
    this.#subscribing ??= this.#open()
      .catch(() => this.#retryLater())
      .finally(() => {
        this.#subscribing = undefined
      })
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry?.()
    this.#cancelPing?.()
    this.#subscription?.close()
    this.#subscription = undefined
    this.#messages.close()
  }

  async #open(): Promise<void> {
    if (this.#isClosed) throw closedError()
    const limit = new AbortableCall(PATIENCE)
    const cancel = this.#clock.schedule(PATIENCE, () => limit.abort(new Error('the subscription took too long')))
    const echoed = new Promise<void>((resolve) => (this.#onEcho = resolve))
    let subscription: Subscription | undefined
    try {
      const opened = await this.#adapter.listen?.(
        this.channel,
        {
          onMessage: (message) => this.#onMessage(message),
          onGap: () => this.#messages.notifyAll(),
          onEnd: () => {
            limit.abort(new Error('the connection has ended'))
            if (subscription !== undefined) this.#onEnd(subscription)
          },
        },
        limit,
      )
      subscription = opened
      // A pooler between here and the server may forget the subscription.
      await untilAborted(this.#notifySelf(ECHO, limit), limit)
      await untilAborted(echoed, limit)
    } catch (error) {
      subscription?.close()
      throw error
    } finally {
      cancel()
    }
    if (this.#isClosed) return subscription?.close()
    this.#subscription = subscription
    this.#failures = 0
    this.#pingLater()
    // Messages sent between two subscriptions are lost.
    this.#messages.notifyAll()
  }

  #onEnd(subscription: Subscription): void {
    if (this.#subscription !== subscription) return
    this.#subscription = undefined
    this.#cancelPing?.()
    subscription.close()
    this.#retryLater()
    // From now on they poll.
    this.#messages.notifyAll()
  }

  #pingLater(): void {
    const subscription = this.#subscription
    this.#cancelPing = this.#clock.schedule(PING_INTERVAL, () => {
      if (subscription === undefined) return
      const cancel = this.#clock.schedule(PATIENCE, () => this.#onEnd(subscription))
      this.#cancelPing = cancel
      subscription.ping().then(
        () => {
          cancel()
          if (this.#subscription === subscription) this.#pingLater()
        },
        () => {
          cancel()
          this.#onEnd(subscription)
        },
      )
    })
  }

  #retryLater(): void {
    if (this.#isClosed) return
    const pause = Math.min(FIRST_PAUSE * 2 ** Math.min(this.#failures, 16), LONGEST_PAUSE)
    this.#failures += 1
    this.#cancelRetry?.()
    this.#cancelRetry = this.#clock.schedule(pause * (0.5 + 0.5 * Math.random()), () => {
      this.#cancelRetry = undefined
      // Without a waiter, the next one subscribes.
      if (this.#messages.size > 0) this.subscribe()
    })
  }

  #onMessage(message: string): void {
    if (message === ECHO) this.#onEcho?.()
    else this.#messages.notify(message)
  }
}
