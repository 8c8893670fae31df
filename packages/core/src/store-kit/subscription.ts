import { AbortableCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'
import { backoff } from './backoff.js'
import type { MessageListeners } from './message-listeners.js'
import { untilAborted } from './until-aborted.js'

/** Durations are milliseconds. */
export interface SubscriptionSource {
  /**
   * Opens the subscription, and resolves when its messages come. `call` lasts as long as the subscription: abort it when the
   * subscription has ended. When it is aborted, free what was opened.
   */
  readonly open: (call: AbortableCall) => Promise<void>
  /** How long an attempt to open it may take. */
  readonly timeout: number
  /** The pauses before it is opened again; half of each is random. */
  readonly firstPause: number
  readonly longestPause: number
}

/**
 * The subscription of a store to the messages of its server. It is opened for the first waiter, and opened again when it has
 * ended, as long as messages have listeners. Messages may be lost in between: each time it is open, all listeners are notified.
 */
export class Subscription {
  readonly #options: SubscriptionSource
  readonly #messages: MessageListeners
  readonly #clock: Clock
  readonly #random: () => number
  #opening: Promise<void> | undefined
  #call: AbortableCall | undefined
  #since = 0
  #isOpen = false
  #failures = 0
  #cancelRetry: (() => void) | undefined
  #closed: Error | undefined

  constructor(options: SubscriptionSource, messages: MessageListeners, clock: Clock, random: () => number) {
    this.#options = options
    this.#messages = messages
    this.#clock = clock
    this.#random = random
  }

  /** Whether messages come. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** How long the attempt to open it has lasted, in milliseconds; 0 if there is none. */
  get openingFor(): number {
    return this.#opening === undefined ? 0 : this.#clock.now() - this.#since
  }

  /** Resolves when it is open. All callers share one attempt and its outcome. */
  opened(): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    if (this.#isOpen) return Promise.resolve()
    this.#opening ??= this.#open()
    return this.#opening
  }

  /** Begins to open it, without waiting. After a failure, the pause is kept. */
  openSoon(): void {
    if (this.#cancelRetry === undefined) this.opened().catch(() => {})
  }

  /** Ends the attempt to open it. */
  giveUpOpening(reason: Error): void {
    if (this.#opening !== undefined) this.#call?.abort(reason)
  }

  /** Ends it for good. */
  close(reason: Error): void {
    this.#closed = reason
    this.#cancelRetry?.()
    this.#call?.abort(reason)
  }

  async #open(): Promise<void> {
    const call = new AbortableCall()
    this.#call = call
    this.#since = this.#clock.now()
    const slow = new Error('the subscription took too long')
    const cancel = this.#clock.schedule(this.#options.timeout, () => call.abort(slow))
    try {
      await untilAborted(this.#options.open(call), call)
      if (call.aborted) throw call.signal.reason
    } catch (error) {
      call.abort(error)
      this.#openLater()
      throw error
    } finally {
      cancel()
      this.#opening = undefined
    }
    this.#isOpen = true
    this.#failures = 0
    call.onAbort(() => {
      this.#isOpen = false
      this.#openLater()
    })
    this.#messages.notifyAll()
  }

  #openLater(): void {
    if (this.#closed !== undefined) return
    const { firstPause, longestPause } = this.#options
    this.#cancelRetry?.()
    this.#cancelRetry = this.#clock.schedule(backoff(this.#failures, firstPause, longestPause, this.#random), () => {
      this.#cancelRetry = undefined
      if (this.#messages.size > 0) this.opened().catch(() => {})
    })
    this.#failures += 1
  }
}
