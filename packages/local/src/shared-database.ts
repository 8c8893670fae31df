import { statSync } from 'node:fs'
import { LeaseUnavailableError } from '@leasehold/core'
import { open, type RootDatabase } from 'lmdb'
import { checkDatabaseFile, gateOf } from './database-file.js'
import { failureOf } from './failure-of.js'
import { FileLock } from './file-lock.js'
import type { LeaseFolder } from './lease-folder.js'

export interface SharedDatabaseOptions {
  readonly folder: LeaseFolder
  /** The name of its file in the folder. */
  readonly file: string
  /** Whether a commit is on the disk when it is done; else a power failure takes back the last ones. */
  readonly durable: boolean
  /** What is done each time that it is opened, before anything else. In a write transaction. */
  readonly begin?: (database: SharedDatabase) => void
}

interface Opened {
  /** Whoever opens, closes or writes has it. */
  readonly gate: FileLock
  readonly root: RootDatabase<string, Uint8Array>
  /** Which file it is: another may have come to its place. */
  readonly file: string | undefined
}

/** What a process that ends has not closed. */
const unclosed = new Set<SharedDatabase>()

function closeAll(): void {
  for (const database of unclosed) database.close()
}

/**
 * An lmdb database that several processes open, use and close at the same time.
 *
 * lmdb alone is not up to that. Whoever opens a database sets the number of its last transaction to what he read a
 * moment before, which undoes a commit of another process in between (LMDB's ITS#9496, which lmdb-js has still). Whoever
 * closes it as the last one destroys the mutexes that another may be about to use. And a transaction that cannot begin
 * is run all the same. So all that opens, closes and writes excludes each other, by a lock on a file of its own, the
 * gate; it costs little more than a microsecond.
 */
export class SharedDatabase {
  readonly #options: SharedDatabaseOptions
  readonly #path: string
  /** `undefined` where it could not be opened anew after it was deleted, or is closed. */
  #opened: Opened | undefined
  #isClosed = false

  /** Throws the typed error for a file that is no database, or that this user may not use. */
  constructor(options: SharedDatabaseOptions) {
    this.#options = options
    this.#path = options.folder.file(options.file)
    this.#attempt(() => this.#open())
    if (unclosed.size === 0) process.on('exit', closeAll)
    unclosed.add(this)
  }

  /**
   * Runs `work` in one exclusive transaction: all that it wrote is committed, or, where it throws, nothing. Begins anew
   * where the folder was deleted under it: a process that went on in the deleted one would be alone in it.
   */
  write<T>(work: () => T): T {
    return this.#attempt(() => {
      const { gate, root } = this.#enter()
      try {
        return transact(root, work)
      } finally {
        gate.unlock()
        if (this.#isClosed) this.#close()
      }
    })
  }

  /** Makes what follows in this turn of the event loop see all that is committed, by other processes too. */
  refresh(): void {
    this.#root.resetReadTxn()
  }

  get(key: Uint8Array): string | undefined {
    return this.#root.get(key)
  }

  /** The entries between the keys, in their order, as far as they are asked for. */
  range(start: Uint8Array, end: Uint8Array): Iterable<{ readonly key: Uint8Array; readonly value: string }> {
    return this.#root.getRange({ start, end })
  }

  /** The last key before `end` that is not before `start`. */
  lastKey(start: Uint8Array, end: Uint8Array): Uint8Array | undefined {
    for (const key of this.#root.getKeys({ start: end, end: start, reverse: true, limit: 1 })) return key
    return undefined
  }

  put(key: Uint8Array, value: string): void {
    this.#root.putSync(key, value)
  }

  remove(key: Uint8Array): void {
    this.#root.removeSync(key)
  }

  /** What is called afterwards throws a `LeaseUnavailableError`. Within a transaction: at its end. */
  close(): void {
    this.#isClosed = true
    unclosed.delete(this)
    if (unclosed.size === 0) process.off('exit', closeAll)
    this.#close()
  }

  get #root(): RootDatabase<string, Uint8Array> {
    return this.#use().root
  }

  #use(): Opened {
    if (this.#opened !== undefined && (!this.#isClosed || this.#opened.gate.isHeld)) return this.#opened
    throw new LeaseUnavailableError(`${this.#path} is ${this.#isClosed ? 'closed' : 'not open'}`, { store: 'local' })
  }

  /** Takes the gate of the database that is in its place now. */
  #enter(): Opened {
    for (;;) {
      // What could not be opened a moment ago may be there again.
      if (this.#opened === undefined && !this.#isClosed) this.#open()
      const opened = this.#use()
      const { gate, file } = opened
      gate.lock()
      let isCurrent = gate.isNested
      try {
        isCurrent ||= fileAt(this.#path) === file
      } finally {
        if (!isCurrent) gate.unlock()
      }
      if (isCurrent) return opened
      this.#close()
    }
  }

  #open(): void {
    const { folder, durable, begin } = this.#options
    folder.make()
    checkDatabaseFile(this.#path)
    const gate = new FileLock(gateOf(this.#path))
    gate.lock()
    try {
      const root = openRoot(this.#path, folder.fileMode, durable)
      folder.share([this.#path, `${this.#path}-lock`, gateOf(this.#path)])
      this.#opened = { gate, root, file: fileAt(this.#path) }
      if (begin !== undefined) transact(root, () => begin(this))
    } catch (error) {
      gate.unlock()
      if (this.#opened === undefined) gate.close()
      this.#close()
      throw error
    }
    gate.unlock()
  }

  /**
   * Who has been in the gate for so long has the database open, so that we are not the last one, and may close it
   * without.
   */
  #close(): void {
    // In a transaction it is not the time: its end will close, or the end of the process, as at any other point.
    if (this.#opened === undefined || this.#opened.gate.isHeld) return
    const { gate, root } = this.#opened
    this.#opened = undefined
    gate.tryLock()
    // Done when it returns, for there is nothing that is not committed.
    void root.close()
    gate.close()
  }

  #attempt<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw failureOf(error, this.#path)
    }
  }
}

function openRoot(path: string, permissionsMode: number, durable: boolean): RootDatabase<string, Uint8Array> {
  // A variable, for lmdb's types do not know of the option.
  const files = { path, permissionsMode }
  const flushing = durable ? { overlappingSync: false } : { noSync: true }
  return open<string, Uint8Array>({ ...files, noSubdir: true, keyEncoding: 'binary', encoding: 'string', ...flushing })
}

function transact<T>(root: RootDatabase<string, Uint8Array>, work: () => T): T {
  const done: { result?: T } = {}
  // lmdb would wait for a promise returned from here with the lock in its hand.
  root.transactionSync(() => {
    if (!(root.getWriteTxnId() > 0)) throw new Error('no transaction could be begun')
    done.result = work()
  })
  return done.result as T
}

/** Tells files at one path apart; `undefined` where there is none. */
function fileAt(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
}
