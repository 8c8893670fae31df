/// <reference path="./fs-native-extensions.d.ts" />
import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { failureOf, misconfigured } from './failure-of.js'
import type { LeaseFolder } from './lease-folder.js'
import { identityOf } from './log-file.js'

/** The operating system's lock of a file, from native code. */
type SystemLock = Pick<typeof import('fs-native-extensions'), 'waitForLockSync' | 'unlock'>

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
    // If not, this thread already holds the lock, in an outer action.
    const isOuter = !locked.has(identity)
    locked.add(identity)
    try {
      return action()
    } finally {
      if (isOuter) {
        locked.delete(identity)
        this.#system.unlock(file)
      }
      closeSync(file)
    }
  }

  #lock(): { readonly file: number; readonly identity: string } {
    for (;;) {
      let file: number | undefined
      try {
        file = openSync(this.#path, 'a+', this.#folder.fileMode)
        this.#folder.share([this.#path])
        const identity = identityOf(fstatSync(file))
        if (locked.has(identity)) return { file, identity }
        this.#system.waitForLockSync(file)
        // The file may have been replaced during the wait.
        const place = statSync(this.#path, { throwIfNoEntry: false })
        if (place !== undefined && identityOf(place) === identity) return { file, identity }
        closeSync(file)
      } catch (error) {
        if (file !== undefined) closeSync(file)
        throw failureOf(error, this.#path)
      }
    }
  }
}

/**
 * Loads the native code, which exists for some platforms only: stores work without it, so it is loaded for a guard only.
 * Throws a `LeaseConfigurationError` that names the alternatives.
 */
function loadSystemLock(): SystemLock {
  try {
    // The native code calls functions of libuv, which Deno does not have: it would end the process.
    if (process.versions.deno !== undefined) throw new Error('Deno has no libuv')
    // In a bundle of CommonJS, `import.meta` is empty: the application's packages are found from its working directory.
    return createRequire(import.meta.url ?? join(process.cwd(), 'package.json'))('fs-native-extensions')
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw misconfigured(
      'LocalGuard needs native code that cannot be loaded here: fs-native-extensions on ' +
        `${process.platform}-${process.arch} (${reason}). Install it where the program runs: a bundle does not contain it. ` +
        'On Alpine Linux, use an image with glibc, such as node:20-slim. Or check the fencing token elsewhere: with the ' +
        'guard of another store, or in the statement that writes. LocalLeaseStore itself needs no native code',
      error,
    )
  }
}
