/// <reference path="./fs-native-extensions.d.ts" />
import { closeSync, openSync } from 'node:fs'
import { tryLock, unlock, waitForLockSync } from 'fs-native-extensions'

/** For how long a busy lock is asked for before it is given up, and how often, in milliseconds. */
const PATIENCE = 1_000
const PAUSE = 5

/**
 * The operating system's lock on a file, which is made where there is none. It excludes all other processes and threads,
 * and goes with the process that has it, however that ends. Taken again by who has it, it only counts.
 */
export class FileLock {
  readonly #file: number
  #depth = 0

  constructor(path: string) {
    this.#file = openSync(path, 'a+')
  }

  get isHeld(): boolean {
    return this.#depth > 0
  }

  /** Whether it was taken more than once. */
  get isNested(): boolean {
    return this.#depth > 1
  }

  /** Waits for as long as it takes. */
  lock(): void {
    if (this.#depth === 0) waitForLockSync(this.#file)
    this.#depth += 1
  }

  /** Waits no longer than a second; tells whether it has the lock. */
  tryLock(): boolean {
    for (let waited = 0; this.#depth === 0 && !tryLock(this.#file); waited += PAUSE) {
      if (waited >= PATIENCE) return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
    }
    this.#depth += 1
    return true
  }

  unlock(): void {
    this.#depth -= 1
    if (this.#depth === 0) unlock(this.#file)
  }

  /** Frees it as well. */
  close(): void {
    closeSync(this.#file)
  }
}
