import { readdirSync, rmSync, statSync } from 'node:fs'
import { LeaseConfigurationError } from '@leasehold/core'
import { open, type RootDatabase } from 'lmdb'
import type { Boot } from './boot.js'
import { bootOfFile, checkDatabaseFile, databaseFile } from './database-file.js'
import { failureOf } from './failure-of.js'
import { beginEpoch, firstToken } from './fencing-epoch.js'
import { factKey } from './keys.js'
import type { LeaseFolder } from './lease-folder.js'

/** Of the entries in the database; raised when an older version would misread them. */
const SCHEMA = 1

const EPOCH_FILE = 'epoch'
const schemaKey = factKey('schema')
const epochKey = factKey('epoch')

/**
 * The lmdb database of this start of the machine. lmdb's lock makes a write transaction exclusive across all processes
 * (and is taken over from one that died in it); a transaction that is not committed never was.
 *
 * Commits are flushed in lmdb's own, well-trodden way. What a power failure takes back all the same was of an earlier
 * start, whose database is not opened again.
 */
export class LeaseDatabase {
  readonly #folder: LeaseFolder
  readonly #path: string
  #root: RootDatabase<string, Uint8Array>
  /** Which file was opened: another may have come to its place. */
  #file: string
  #epoch = 0n

  constructor(folder: LeaseFolder, boot: Boot) {
    this.#folder = folder
    this.#path = folder.file(databaseFile(boot.id))
    try {
      this.#root = this.#open()
      this.#file = fileAt(this.#path) ?? ''
    } catch (error) {
      throw failureOf(error, folder.path)
    }
  }

  /**
   * Runs `work` in one exclusive transaction: all that it wrote is committed, or, where it throws, nothing. Begins anew
   * where the folder was deleted under it: a process that went on in the deleted one would be alone in it.
   */
  write<T>(work: () => T): T {
    try {
      if (fileAt(this.#path) !== this.#file) this.#reopen()
      const done: { result?: T } = {}
      // lmdb would wait for a promise returned from here with the lock in its hand.
      this.#root.transactionSync(() => {
        done.result = work()
      })
      return done.result as T
    } catch (error) {
      throw failureOf(error, this.#folder.path)
    }
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

  /** A token larger than `last` and than all of earlier starts of the machine. In a write transaction. */
  tokenAfter(last: bigint): bigint {
    if (last + 1n >= firstToken(this.#epoch + 1n)) this.#nextEpoch(last)
    const first = firstToken(this.#epoch)
    return last >= first ? last + 1n : first
  }

  close(): Promise<void> {
    return this.#root.close()
  }

  /** A name that used up its tokens of this epoch; another process may have begun the next one before. */
  #nextEpoch(last: bigint): void {
    this.#epoch = BigInt(this.get(epochKey) ?? 0)
    while (last + 1n >= firstToken(this.#epoch + 1n)) this.#beginEpoch()
  }

  #beginEpoch(): void {
    this.#epoch = beginEpoch(this.#folder.file(EPOCH_FILE), this.#folder.fileMode)
    this.put(epochKey, String(this.#epoch))
  }

  #reopen(): void {
    void this.#root.close()
    this.#root = this.#open()
    this.#file = fileAt(this.#path) ?? ''
  }

  #open(): RootDatabase<string, Uint8Array> {
    checkDatabaseFile(this.#path)
    // A variable, for lmdb's types do not know of the option.
    const options = { permissionsMode: this.#folder.fileMode }
    const root = open<string, Uint8Array>({
      path: this.#path,
      noSubdir: true,
      keyEncoding: 'binary',
      encoding: 'string',
      ...options,
    })
    this.#root = root
    this.#folder.share(this.#path)
    root.transactionSync(() => {
      this.#begin()
    })
    return root
  }

  /** Checks the schema; of a new database, begins the epoch before anyone is granted anything. */
  #begin(): void {
    const schema = this.get(schemaKey)
    if (schema === undefined) {
      this.#removeEarlier()
      this.#beginEpoch()
      this.put(schemaKey, String(SCHEMA))
      return
    }
    if (schema !== String(SCHEMA)) {
      throw new LeaseConfigurationError(
        `the lease database in ${this.#folder.path} is of version ${schema}, and this package knows ${SCHEMA}: ` +
          'use the same version of @leasehold/local in all processes of the folder',
        { store: 'local' },
      )
    }
    this.#epoch = BigInt(this.get(epochKey) ?? 0)
  }

  /** The databases of earlier starts hold nothing that is still in force. */
  #removeEarlier(): void {
    for (const file of readdirSync(this.#folder.path)) {
      const boot = bootOfFile(file)
      const isEarlier = boot !== undefined && !this.#path.endsWith(databaseFile(boot))
      if (isEarlier) rmSync(this.#folder.file(file), { force: true })
    }
  }
}

/** Tells files at one path apart; `undefined` where there is none. */
function fileAt(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
}
