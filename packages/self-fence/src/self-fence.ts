import { type SelfFenceMode, systemClock } from '@leasehold/core'
import { acknowledgeTime, askBefore, type Fence } from '@leasehold/core/internal'
import type { Deadline } from './deadlines.js'
import { type DeadlineKeeper, Watchdog } from './watchdog.js'

const watchdog = new Watchdog()

/** The fence of a lease whose engine runs in this thread. `onEnded`: the thread that ends the process has ended by itself. */
export function createFence(mode: SelfFenceMode, ttl: number, onEnded: () => void): Fence {
  return new SelfFence(mode, ttl, onEnded, watchdog)
}

/** Ends the process if the loss of a grant is not acknowledged in time. */
export class SelfFence implements Fence {
  readonly #mode: SelfFenceMode
  readonly #ttl: number
  readonly #onEnded: () => void
  readonly #keeper: DeadlineKeeper
  #deadline: Deadline | undefined
  #killAt = Number.POSITIVE_INFINITY

  constructor(mode: SelfFenceMode, ttl: number, onEnded: () => void, keeper: DeadlineKeeper) {
    this.#mode = mode
    this.#ttl = ttl
    this.#onEnded = onEnded
    this.#keeper = keeper
  }

  /** The place of the deadline that is armed. */
  get place(): number | undefined {
    return this.#deadline?.place
  }

  start(): Promise<void> | undefined {
    return this.#keeper.start()
  }

  arm(validUntil: number): void {
    try {
      this.#deadline ??= this.#keeper.add(this.#onEnded)
    } catch {
      // The thread had ended while the lease waited for its turn, and cannot be started again.
      queueMicrotask(this.#onEnded)
      return
    }
    this.#set(validUntil + acknowledgeTime(this.#ttl))
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
    this.#set(Math.min(this.#killAt, systemClock.now() + acknowledgeTime(this.#ttl)))
    this.#deadline = undefined
    void work.then(() => deadline.clear())
  }

  #set(killAt: number): void {
    this.#killAt = killAt
    this.#deadline?.set(killAt - askBefore(this.#mode, this.#ttl), killAt)
  }
}
