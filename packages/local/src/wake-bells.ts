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

/** How many bell files there are: names share them, so that neither files nor watches grow with the names. */
const BELLS = 64

const FOLDER = 'wake'
const STROKE = Buffer.from('\n')

/** The bell of a name; the same in all processes. */
export function bellOf(name: string): number {
  return createHash('sha1').update(name).digest().readUInt32BE(0) % BELLS
}

/**
 * Wakes waiters in other processes: who frees a name writes to the file of its bell, and who waits has the operating
 * system watch the folder of these files. A ring may be lost or be for another name: it only says to look.
 */
export class WakeBells {
  readonly #path: string
  readonly #folder: LeaseFolder
  readonly #files = new Map<number, number>()
  #watcher: FSWatcher | undefined

  constructor(folder: LeaseFolder) {
    this.#folder = folder
    this.#path = folder.file(FOLDER)
  }

  /** Calls `onRing` with each bell that rings, and keeps the process alive for it: someone awaits a turn. */
  listen(onRing: (bell: number) => void): void {
    if (this.#watcher !== undefined) return
    try {
      this.#makeFolder()
      this.#watcher = watch(this.#path, (_, file) => {
        if (file !== null) onRing(Number(file))
      })
      this.#watcher.on('error', () => this.silence())
    } catch {
      // No watches are left, or the folder is gone: waiters then look every second.
    }
  }

  silence(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  ring(bells: ReadonlySet<number>): void {
    for (const bell of bells) {
      try {
        writeSync(this.#fileOf(bell), STROKE, 0, STROKE.length, 0)
      } catch {
        // What was committed is; those who wait look by themselves a little later.
      }
    }
  }

  /** Files of a folder that was deleted wake nobody. */
  close(): void {
    this.silence()
    for (const file of this.#files.values()) closeSync(file)
    this.#files.clear()
  }

  #fileOf(bell: number): number {
    const opened = this.#files.get(bell)
    if (opened !== undefined && fstatSync(opened).nlink > 0) return opened
    if (opened !== undefined) closeSync(opened)
    this.#files.delete(bell)
    this.#makeFolder()
    const file = openSync(join(this.#path, String(bell)), constants.O_WRONLY | constants.O_CREAT)
    this.#files.set(bell, file)
    if (fstatSync(file).uid === process.geteuid?.()) fchmodSync(file, this.#folder.fileMode)
    return file
  }

  #makeFolder(): void {
    const made = mkdirSync(this.#path, { recursive: true })
    if (made !== undefined) chmodSync(this.#path, this.#folder.mode)
  }
}
