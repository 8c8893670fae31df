import type { MessageListeners } from '../store-kit/message-listeners.js'

/**
 * The pause before a waiter whose turn has come asks again while a guard in an open transaction keeps the name, in
 * milliseconds. It doubles each time. The end of that transaction notifies nobody.
 */
const BUSY_PAUSE = 20
const LONGEST_BUSY_PAUSE = 250

/** How often the first waiter and the others ask while no notifications come, in milliseconds. */
const POLL = 500
const LATER_POLL = 2_000

/** How often a watch without a place in the queue asks while no notifications come, in milliseconds. */
export const MISSED_TURN_POLL = 2 * POLL

/** How a claim of a waiter was refused. */
export interface TurnStanding {
  /** Whether nobody is before it in the queue. */
  readonly isFirst: boolean
  /** Whether the name is free, but an open transaction keeps its row. */
  readonly isBusy: boolean
  /** The time until the lock ends, in milliseconds; `undefined` if the name is free or never expires. */
  readonly remaining: number | undefined
}

/**
 * When the waiters of a SQL store ask again by themselves. A database sends nothing when a lease expires or a guard ends, and
 * some send nothing at all.
 */
export class TurnAlarms {
  readonly #messages: MessageListeners
  readonly #isHearing: () => boolean
  readonly #busyPauses = new Map<string, number>()

  /** `isHearing`: whether releases are notified; else waiters poll. */
  constructor(messages: MessageListeners, isHearing: () => boolean) {
    this.#messages = messages
    this.#isHearing = isHearing
  }

  /** Sets the alarm of a waiter that was refused. `message`: the one that its watch listens to. */
  await(message: string, { isFirst, isBusy, remaining }: TurnStanding): void {
    const longest = this.#isHearing() ? Number.POSITIVE_INFINITY : isFirst ? POLL : LATER_POLL
    let due = isFirst && remaining !== undefined ? remaining : Number.POSITIVE_INFINITY
    if (isBusy && isFirst) {
      due = this.#busyPauses.get(message) ?? BUSY_PAUSE
      this.#busyPauses.set(message, Math.min(2 * due, LONGEST_BUSY_PAUSE))
    } else this.#busyPauses.delete(message)
    this.#messages.setAlarm(message, Math.min(due, longest))
  }

  /** For a waiter that was granted, or has left. */
  forget(message: string): void {
    this.#messages.cancelAlarm(message)
    this.#busyPauses.delete(message)
  }

  clear(): void {
    this.#busyPauses.clear()
  }
}
