import type { Held, View } from './contender.js'

/** How the locks of a library are asked and released: the same for all of them. */
export interface LockUse<Lock> {
  views(lock: Lock): readonly View[]
  release(lock: Lock): Promise<unknown>
}

/** A lock that a library holds. Without closures of its own, so that the benchmark adds little to the memory of a lock. */
export class HeldLock<Lock> implements Held {
  readonly #use: LockUse<Lock>
  readonly #lock: Lock
  #listeners: (() => void)[] | undefined

  /** `open` makes the lock, with the callback for its loss. */
  constructor(use: LockUse<Lock>, open: (onLost: () => void) => Lock) {
    this.#use = use
    this.#lock = open(this.#onLost.bind(this))
  }

  get lock(): Lock {
    return this.#lock
  }

  get views(): readonly View[] {
    return this.#use.views(this.#lock)
  }

  onLoss(listener: () => void): void {
    this.#listeners ??= []
    this.#listeners.push(listener)
  }

  async release(): Promise<void> {
    await this.#use.release(this.#lock)
  }

  #onLost(): void {
    for (const listener of this.#listeners ?? []) listener()
  }
}
