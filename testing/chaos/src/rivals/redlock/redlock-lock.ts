import type { LeaseLost } from '@leasehold/core'
import { systemClock } from '@leasehold/core'
import { wallTime } from '@leasehold/core/store-kit'
import type Redlock from 'redlock'
import type { RivalLock } from '../rival-lease.js'

type Lock = Awaited<ReturnType<Redlock['acquire']>>

/** A lock of redlock that is extended by hand: `using` keeps its expiry to itself. It is held until its `expiration`. */
export class RedlockLock implements RivalLock {
  readonly #interval: number
  readonly #ttl: number
  readonly #onLost: (lost: LeaseLost) => void
  #lock: Lock
  #isOver = false
  #cancel = (): void => {}

  constructor(lock: Lock, options: { interval: number; ttl: number; onLost: (lost: LeaseLost) => void }) {
    this.#lock = lock
    this.#interval = options.interval
    this.#ttl = options.ttl
    this.#onLost = options.onLost
    this.#extendLater()
  }

  remaining(): number {
    return this.#lock.expiration - wallTime()
  }

  async release(): Promise<boolean> {
    this.#stop()
    await this.#lock.release()
    return true
  }

  #stop(): void {
    this.#isOver = true
    this.#cancel()
  }

  #extendLater(): void {
    this.#cancel = systemClock.schedule(this.#interval, () => void this.#extend())
  }

  async #extend(): Promise<void> {
    try {
      const extended = await this.#lock.extend(this.#ttl)
      if (this.#isOver) return
      this.#lock = extended
    } catch {
      // It may still be extended before it expires.
    }
    if (this.#isOver) return
    if (this.remaining() > 0) this.#extendLater()
    else {
      this.#stop()
      this.#onLost({ reason: 'expired' })
    }
  }
}
