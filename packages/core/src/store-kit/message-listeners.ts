import { AbortableCall, type StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'

/** How many milliseconds an alarm is set later, because timers may be early by a part of one. */
const AFTER_ALARM = 2

/** An alarm is later by less than the time until then divided by this. */
const LATER_PART = 1_024

/** How many messages are kept that came before there was a listener. */
const EARLY_MESSAGES = 1_000

/**
 * The watches of a store whose server sends messages, such as `turn <grant id>`. A message that comes before its listener is
 * kept for it: the answer of a request may come after the message.
 */
export class MessageListeners {
  readonly #clock: Clock
  readonly #listeners = new Map<string, Set<() => void>>()
  readonly #early = new Set<string>()
  readonly #alarms = new Map<string, () => void>()
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many messages have a listener. */
  get size(): number {
    return this.#listeners.size
  }

  /** Yields after each message, once for several, until the call is aborted or the store is closed. */
  async *listen(message: string, call: StoreCall): AsyncGenerator<undefined> {
    let isNotified = this.#early.delete(message)
    let wake = (): void => {}
    const listener = (): void => {
      isNotified = true
      wake()
    }
    const removeListener = call.onAbort(listener)
    const listeners = this.#listeners.get(message) ?? new Set()
    this.#listeners.set(message, listeners.add(listener))
    try {
      while (true) {
        const isOver = (): boolean => call.aborted || this.#isClosed
        if (!isNotified && !isOver()) await new Promise<void>((resolve) => (wake = resolve))
        if (isOver()) return
        isNotified = false
        yield undefined
      }
    } finally {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(message)
      removeListener()
    }
  }

  /**
   * Like `listen`, for a message that the server sends only after a registration. A registration expires, so it is made
   * again after each pause, in milliseconds. `register` resolves with whether the message is due already.
   */
  async *listenRegistered(
    message: string,
    call: StoreCall,
    pause: () => number,
    register: (call: StoreCall) => Promise<boolean>,
  ): AsyncGenerator<undefined> {
    let current = new AbortableCall()
    let cancel = (): void => {}
    const registerAgain = (): void => {
      const next = pause()
      cancel = this.#clock.schedule(next, registerAgain)
      current.abort()
      current = new AbortableCall(next)
      register(current).then(
        (isDue) => {
          if (isDue) this.notify(message)
        },
        // The next attempt follows soon, and waiters also poll.
        () => {},
      )
    }
    registerAgain()
    try {
      yield* this.listen(message, call)
    } finally {
      cancel()
      current.abort()
    }
  }

  /** Notifies the listeners of a message. If there is none, the next listener is notified. */
  notify(message: string): void {
    const listeners = this.#listeners.get(message)
    if (listeners !== undefined) {
      for (const listener of listeners) listener()
      return
    }
    this.#early.add(message)
    const [oldest = ''] = this.#early
    if (this.#early.size > EARLY_MESSAGES) this.#early.delete(oldest)
  }

  /** Notifies all listeners after a gap in which messages may have been lost. */
  notifyAll(): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener()
  }

  /**
   * Notifies the listeners of a message after a number of milliseconds, in place of an earlier alarm: a server sends
   * nothing when a lease expires. `Infinity` sets none. Far alarms are up to a thousandth later, so that those of many
   * leases come together: their claims then share requests.
   */
  setAlarm(message: string, after: number): void {
    this.cancelAlarm(message)
    if (after === Number.POSITIVE_INFINITY || this.#isClosed) return
    const delay = after + AFTER_ALARM
    const due = this.#clock.now() + delay
    const step = 2 ** Math.floor(Math.log2(after / LATER_PART))
    const wait = step > 1 ? Math.ceil(due / step) * step - due : 0
    const cancel = this.#clock.schedule(delay + wait, () => {
      this.#alarms.delete(message)
      this.notify(message)
    })
    this.#alarms.set(message, cancel)
  }

  cancelAlarm(message: string): void {
    this.#alarms.get(message)?.()
    this.#alarms.delete(message)
  }

  /** Ends all watches. */
  close(): void {
    this.#isClosed = true
    for (const cancel of this.#alarms.values()) cancel()
    this.#alarms.clear()
    this.notifyAll()
  }
}
