import { type Clock, LeaseUnavailableError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { Connection } from './client/connection.js'
import { closedError, type LazyConnection, STALL_TIMEOUT } from './client/lazy-connection.js'

/** The pauses before a broken subscription is renewed, in milliseconds; half of each is random. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2_000

/** How long an attempt to subscribe may take, in milliseconds: a dead connection may never report an error. */
const SUBSCRIBE_TIMEOUT = 5_000

/** Timers may be early by a part of a millisecond. */
const AFTER_EXPIRY = 2

/** The server echoes each poll over the channel. Without an echo for so many milliseconds, the subscription is dead. */
const ECHO_TIMEOUT = 2_000
const ECHO = 'here'

/** How many messages are kept that came before there was a listener. */
const EARLY_MESSAGES = 1_000

/**
 * The messages of the server to this store, over one channel: `turn <grant id>` when it may be that waiter's turn, and
 * `free <key>` when the name may be free. While the subscription is broken, messages may be missed; therefore all listeners
 * are notified when it is renewed.
 */
export class Turns {
  readonly channel: string
  readonly #lazy: LazyConnection
  readonly #clock: Clock
  readonly #listeners = new Map<string, Set<() => void>>()
  readonly #early = new Set<string>()
  readonly #expiries = new Map<string, () => void>()
  #isClosed = false
  #subscribing: Promise<void> | undefined
  #connection: Connection | undefined
  #openedAt = Number.NEGATIVE_INFINITY
  #heardAt = Number.NEGATIVE_INFINITY
  #cancelEcho: (() => void) | undefined
  #failures = 0
  #cancelRetry: (() => void) | undefined

  constructor(lazy: LazyConnection, clock: Clock, channel: string) {
    this.#lazy = lazy
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
    this.#cancelEcho = this.#clock.schedule(ECHO_TIMEOUT, () => {
      this.#cancelEcho = undefined
      if (this.#heardAt < since && this.#connection === connection) this.#lazy.drop(connection)
    })
  }

  /** Resolves when messages reach this store. Rejects with the reason of the abort, or of the failure. */
  async subscribed(call: StoreCall): Promise<void> {
    if (this.isSubscribed) return
    let removeListener = (): void => {}
    const aborted = new Promise<never>((_, reject) => {
      removeListener = call.onAbort(() => {
        this.#giveUpIfSlow()
        reject(call.signal.reason)
      })
    })
    try {
      await Promise.race([this.#subscribe(), aborted])
    } finally {
      removeListener()
    }
  }

  /** The server sends nothing at an expiry: notifies the first waiter when the lease of the holder can have expired. */
  expectExpiry(grantId: string, remaining: number): void {
    this.forgetExpiry(grantId)
    if (remaining === Number.POSITIVE_INFINITY) return
    this.#expiries.set(
      grantId,
      this.#clock.schedule(remaining + AFTER_EXPIRY, () => {
        this.#expiries.delete(grantId)
        this.notify(`turn ${grantId}`)
      }),
    )
  }

  forgetExpiry(grantId: string): void {
    this.#expiries.get(grantId)?.()
    this.#expiries.delete(grantId)
  }

  /** Yields after each message, once for several, until the call is aborted or the store is closed. */
  async *listen(message: string, call: StoreCall): AsyncGenerator<undefined> {
    let isNotified = false
    let wake = (): void => {}
    const listener = (): void => {
      isNotified = true
      wake()
    }
    const removeListener = call.onAbort(listener)
    this.#addListener(message, listener)
    try {
      while (true) {
        const isOver = (): boolean => call.aborted || this.#isClosed
        if (!isNotified && !isOver()) await new Promise<void>((resolve) => (wake = resolve))
        if (isOver()) return
        isNotified = false
        yield undefined
      }
    } finally {
      this.#removeListener(message, listener)
      removeListener()
    }
  }

  /** Notifies the listeners of a message, or the next one if there is none. */
  notify(message: string): void {
    const listeners = this.#listeners.get(message)
    if (listeners !== undefined) {
      for (const listener of listeners) listener()
      return
    }
    this.#early.add(message)
    if (this.#early.size <= EARLY_MESSAGES) return
    for (const oldest of this.#early) {
      this.#early.delete(oldest)
      return
    }
  }

  close(): void {
    this.#isClosed = true
    this.#cancelRetry?.()
    this.#cancelEcho?.()
    for (const cancel of this.#expiries.values()) cancel()
    this.#expiries.clear()
    this.#lazy.close()
    this.#notifyAll()
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
    let giveUp = (): void => {}
    const late = new Promise<never>((_, reject) => {
      giveUp = () => {
        this.#lazy.giveUpOpening()
        reject(new LeaseUnavailableError('the subscription took too long', { store: 'redis' }))
      }
    })
    const cancel = this.#clock.schedule(SUBSCRIBE_TIMEOUT, giveUp)
    let connection: Connection | undefined
    try {
      connection = await Promise.race([this.#lazy.connect(), late])
      const subscribed = connection.subscribe(this.channel, (message) => this.#onMessage(message))
      await Promise.race([subscribed, endOf(connection), late])
    } catch (error) {
      if (connection !== undefined) this.#lazy.drop(connection)
      throw error
    } finally {
      cancel()
    }
    this.#begin(connection)
  }

  #begin(connection: Connection): void {
    this.#connection = connection
    this.#failures = 0
    connection.onEnd(() => this.#onEnd(connection))
    // Messages sent between two subscriptions are lost.
    this.#notifyAll()
  }

  #onEnd(connection: Connection): void {
    this.#connection = undefined
    this.#lazy.drop(connection)
    this.#retryLater()
  }

  #retryLater(): void {
    if (this.#isClosed || this.#listeners.size === 0) return
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
    if (message !== ECHO) this.notify(message)
  }

  #notifyAll(): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener()
  }

  #addListener(message: string, listener: () => void): void {
    const listeners = this.#listeners.get(message)
    if (listeners === undefined) this.#listeners.set(message, new Set([listener]))
    else listeners.add(listener)
    if (this.#early.delete(message)) listener()
  }

  #removeListener(message: string, listener: () => void): void {
    const listeners = this.#listeners.get(message)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(message)
  }
}

function endOf(connection: Connection): Promise<never> {
  return new Promise((_, reject) => {
    connection.onEnd(() => reject(new LeaseUnavailableError('the connection has ended', { store: 'redis' })))
  })
}
