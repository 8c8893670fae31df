import { createHash } from 'node:crypto'
import { closeSync, constants, type FSWatcher, openSync, watch, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { LeaseFolder } from './lease-folder.js'

/** How many files there are: names share them, so that neither files nor watches grow with the names. */
const FILES = 64

/** The number of the file of a name; the same in all processes. */
function fileOf(name: string): number {
  return createHash('sha1').update(name).digest().readUInt32BE(0) % FILES
}

/**
 * Notifies waiters in other processes. The process that frees a name writes to the file of the name. Processes with
 * waiters have the operating system watch the folder of these files. A notification may be lost, or be for another name:
 * it only makes its receiver look.
 */
export class WakeFiles {
  readonly #path: string
  readonly #folder: LeaseFolder
  readonly #onNotified: (name: string) => void
  /** The names that are listened for, by the number of their file. */
  readonly #names = new Map<number, Set<string>>()
  #watcher: FSWatcher | undefined

  /** `onNotified` is called with each name that may have been freed. */
  constructor(folder: LeaseFolder, onNotified: (name: string) => void) {
    this.#folder = folder
    this.#onNotified = onNotified
    this.#path = folder.file('wake')
  }

  /** Listens for a name. That keeps the process alive: there is a waiter. */
  listen(name: string): void {
    const file = fileOf(name)
    this.#names.set(file, (this.#names.get(file) ?? new Set()).add(name))
    if (this.#watcher !== undefined) return
    try {
      this.#folder.make(this.#path)
      this.#watcher = watch(this.#path, (_, changed) => {
        for (const listened of [...(this.#names.get(Number(changed ?? Number.NaN)) ?? [])]) this.#onNotified(listened)
      })
      this.#watcher.on('error', () => this.close())
    } catch {
      // The system has no watches left, or the folder was deleted: waiters then look every second.
    }
  }

  unlisten(name: string): void {
    const file = fileOf(name)
    const names = this.#names.get(file)
    names?.delete(name)
    if (names?.size === 0) this.#names.delete(file)
    if (this.#names.size === 0) this.close()
  }

  notify(names: ReadonlySet<string>): void {
    for (const file of new Set([...names].map(fileOf))) {
      try {
        this.#write(join(this.#path, String(file)))
      } catch {
        // The change is in force. Waiters look by themselves a little later.
      }
    }
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  /** Writes one character over the one before, so that the file does not grow. */
  #write(path: string): void {
    this.#folder.make(this.#path)
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, this.#folder.fileMode)
    try {
      this.#folder.share([path])
      writeSync(file, '\n', 0)
    } finally {
      closeSync(file)
    }
  }
}
