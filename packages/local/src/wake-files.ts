import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  type FSWatcher,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  watch,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { LeaseFolder } from './lease-folder.js'

/** How many files there are: names share them, so that neither files nor watches grow with the names. */
const FILES = 64

const FOLDER = 'wake'
const DATA = Buffer.from('\n')

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
  readonly #opened = new Map<number, number>()
  /** The names that are listened for, by the number of their file. */
  readonly #names = new Map<number, Set<string>>()
  #watcher: FSWatcher | undefined

  /** `onNotified` is called with each name that may have been freed. */
  constructor(folder: LeaseFolder, onNotified: (name: string) => void) {
    this.#folder = folder
    this.#onNotified = onNotified
    this.#path = folder.file(FOLDER)
  }

  /** Listens for a name. That keeps the process alive: there is a waiter. */
  listen(name: string): void {
    const file = fileOf(name)
    this.#names.set(file, (this.#names.get(file) ?? new Set()).add(name))
    if (this.#watcher !== undefined) return
    try {
      this.#makeFolder()
      this.#watcher = watch(this.#path, (_, changed) => {
        for (const listened of [...(this.#names.get(Number(changed ?? Number.NaN)) ?? [])]) this.#onNotified(listened)
      })
      this.#watcher.on('error', () => this.#stop())
    } catch {
      // The system has no watches left, or the folder was deleted: waiters then look every second.
    }
  }

  unlisten(name: string): void {
    const file = fileOf(name)
    const names = this.#names.get(file)
    names?.delete(name)
    if (names?.size === 0) this.#names.delete(file)
    if (this.#names.size === 0) this.#stop()
  }

  notify(names: ReadonlySet<string>): void {
    for (const file of new Set([...names].map(fileOf))) {
      try {
        writeSync(this.#open(file), DATA, 0, DATA.length, 0)
      } catch {
        // The change is in force. Waiters look by themselves a little later.
      }
    }
  }

  close(): void {
    this.#stop()
    for (const file of this.#opened.values()) closeSync(file)
    this.#opened.clear()
  }

  #stop(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  /** Opens a file again that was deleted: its notifications would not arrive. */
  #open(file: number): number {
    const opened = this.#opened.get(file)
    if (opened !== undefined && fstatSync(opened).nlink > 0) return opened
    if (opened !== undefined) closeSync(opened)
    this.#opened.delete(file)
    this.#makeFolder()
    const descriptor = openSync(join(this.#path, String(file)), constants.O_WRONLY | constants.O_CREAT)
    this.#opened.set(file, descriptor)
    if (fstatSync(descriptor).uid === process.geteuid?.()) fchmodSync(descriptor, this.#folder.fileMode)
    return descriptor
  }

  #makeFolder(): void {
    const made = mkdirSync(this.#path, { recursive: true })
    if (made !== undefined) chmodSync(this.#path, this.#folder.mode)
  }
}
