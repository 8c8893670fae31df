import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { failureOf } from './failure-of.js'
import type { LeaseFolder } from './lease-folder.js'
import { identityOf } from './log-file.js'
import { loadSystemLock, type SystemLock } from './system-lock.js'

/**
 * The files that this thread has locked, by identity. The system's lock belongs to one open file description: a second
 * one in the same thread would wait for ever. The set is global because a bundle may contain this module several times.
 */
const KEY = Symbol.for('@leasehold/local/locked-files')
const registry = globalThis as { [KEY]?: Set<string> }
registry[KEY] ??= new Set()
const locked = registry[KEY]

/**
 * The operating system's lock on a file, which is created if it does not exist. It excludes all other processes and
 * threads. The system frees it when the process or the thread ends, in any way: Node.js closes the files of a thread that
 * ends. Within an action that holds the lock, another lock of the same file in the same thread does not wait.
 */
export class FileLock {
  readonly #folder: LeaseFolder
  readonly #path: string
  readonly #system: SystemLock
  #file: number | undefined
  #isHeld = false
  #isClosed = false

  /** Throws a `LeaseConfigurationError` if this platform has no such lock. */
  constructor(folder: LeaseFolder, name: string) {
    this.#system = loadSystemLock()
    this.#folder = folder
    this.#path = folder.file(name)
  }

  /**
   * Runs the synchronous `action` under the lock, and passes on its errors. Waits for the lock for as long as it takes.
   * Throws a typed error if the file cannot be locked.
   */
  hold<T>(action: () => T): T {
    const { file, identity } = this.#lock()
    // This thread already holds the lock, in an outer action.
    if (file === undefined) return action()
    locked.add(identity)
    this.#isHeld = true
    try {
      return action()
    } finally {
      this.#isHeld = false
      locked.delete(identity)
      this.#system.unlock(file)
      if (this.#isClosed) this.close()
    }
  }

  /** Within an action, the file is closed at the end of the action. */
  close(): void {
    this.#isClosed = true
    if (this.#file === undefined || this.#isHeld) return
    closeSync(this.#file)
    this.#file = undefined
  }

  #lock(): { readonly file: number | undefined; readonly identity: string } {
    try {
      for (;;) {
        const file = this.#open()
        const identity = identityOf(fstatSync(file))
        if (locked.has(identity)) return { file: undefined, identity }
        this.#system.waitForLockSync(file)
        // The file may have been replaced during the wait.
        const place = statSync(this.#path, { throwIfNoEntry: false })
        if (place !== undefined && identityOf(place) === identity) return { file, identity }
        closeSync(file)
        this.#file = undefined
      }
    } catch (error) {
      throw failureOf(error, this.#path)
    }
  }

  #open(): number {
    if (this.#file === undefined) {
      this.#file = openSync(this.#path, 'a+', this.#folder.fileMode)
      this.#folder.share([this.#path])
    }
    return this.#file
  }
}
