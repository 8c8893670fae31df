import { type SelfFenceMode, systemClock } from '@leasehold/core'
import type { ProcessFence } from '@leasehold/core/internal'
import { acknowledgeTime, askBefore, type SharedDeadline } from '@leasehold/core/internal'
import type { Deadline } from './deadlines.js'
import { type DeadlineKeeper, Watchdog } from './watchdog.js'

const watchdog = new Watchdog()

/** The fence of a lease. `onEnded`: the thread that ends the process has ended by itself. */
export function createFence(
  mode: SelfFenceMode,
  ttl: number,
  onEnded: () => void,
  lastWords?: SharedArrayBuffer,
): ProcessFence {
  watchdog.lastWords ??= lastWords
  return new SelfFence(mode, ttl, onEnded, watchdog)
}

/** Ends the process if the loss of a grant is not acknowledged in time. */
export class SelfFence implements ProcessFence {
  /** How long after the end of its validity a loss has to be acknowledged, and how long before that to ask the process to end. */
  readonly #killAfter: number
  readonly #askBefore: number
  readonly #onEnded: () => void
  readonly #keeper: DeadlineKeeper
  #deadline: Deadline | undefined

  constructor(mode: SelfFenceMode, ttl: number, onEnded: () => void, keeper: DeadlineKeeper) {
    this.#killAfter = acknowledgeTime(ttl)
    this.#askBefore = askBefore(mode, ttl)
    this.#onEnded = onEnded
    this.#keeper = keeper
  }

  start(): Promise<void> | undefined {
    return this.#keeper.start()
  }

  arm(validUntil: number): SharedDeadline | undefined {
    try {
      this.#deadline ??= this.#keeper.add(this.#onEnded)
    } catch {
      // The thread had ended while the lease waited for its turn, and cannot be started again.
      queueMicrotask(this.#onEnded)
      return undefined
    }
    const { memory, time } = this.#keeper.deadlines
    const killAt = validUntil + this.#killAfter
    this.#deadline.set(killAt - this.#askBefore, killAt)
    const { place } = this.#deadline
    return { memory, place, now: () => time.now(), killAfter: this.#killAfter, askBefore: this.#askBefore }
  }

  disarm(): void {
    this.#deadline?.clear()
    this.#deadline = undefined
  }

  acknowledge(work: Promise<void> | undefined): void {
    const deadline = this.#deadline
    if (deadline === undefined) return
    if (work === undefined) {
      this.disarm()
      return
    }
    const killAt = systemClock.now() + this.#killAfter
    deadline.shorten(killAt - this.#askBefore, killAt)
    this.#deadline = undefined
    void work.then(() => deadline.clear())
  }
}
