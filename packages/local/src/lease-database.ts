import { readdirSync, rmSync } from 'node:fs'
import { LeaseConfigurationError } from '@leasehold/core'
import type { Boot } from './boot.js'
import { bootOfFile, databaseFile } from './database-file.js'
import { beginEpoch, firstToken } from './fencing-epoch.js'
import { factKey } from './keys.js'
import type { LeaseFolder } from './lease-folder.js'
import { SharedDatabase } from './shared-database.js'

/** Of the entries in the database; raised when an older version would misread them. */
const SCHEMA = 1

const EPOCH_FILE = 'epoch'
const schemaKey = factKey('schema')
const epochKey = factKey('epoch')

/**
 * The database of this start of the machine. Commits are not flushed: they outlive the process, and those that a power
 * failure takes back were of an earlier start, whose database is not opened again.
 */
export class LeaseDatabase {
  readonly entries: SharedDatabase
  readonly #folder: LeaseFolder
  readonly #file: string
  #epoch = 0n

  constructor(folder: LeaseFolder, boot: Boot) {
    this.#folder = folder
    this.#file = databaseFile(boot.id)
    this.entries = new SharedDatabase({
      folder,
      file: this.#file,
      durable: false,
      begin: (entries) => this.#begin(entries),
    })
  }

  /** A token larger than `last` and than all of earlier starts of the machine. In a write transaction. */
  tokenAfter(last: bigint): bigint {
    if (last + 1n >= firstToken(this.#epoch + 1n)) this.#nextEpoch(last)
    const first = firstToken(this.#epoch)
    return last >= first ? last + 1n : first
  }

  /** A name that used up its tokens of this epoch; another process may have begun the next one before. */
  #nextEpoch(last: bigint): void {
    this.#epoch = BigInt(this.entries.get(epochKey) ?? 0)
    while (last + 1n >= firstToken(this.#epoch + 1n)) this.#beginEpoch(this.entries)
  }

  #beginEpoch(entries: SharedDatabase): void {
    this.#epoch = beginEpoch(this.#folder.file(EPOCH_FILE), this.#folder.fileMode)
    entries.put(epochKey, String(this.#epoch))
  }

  /** Checks the schema; of a new database, begins the epoch before anyone is granted anything. */
  #begin(entries: SharedDatabase): void {
    const schema = entries.get(schemaKey)
    if (schema === undefined) {
      this.#removeEarlier()
      this.#beginEpoch(entries)
      entries.put(schemaKey, String(SCHEMA))
      return
    }
    if (schema !== String(SCHEMA)) {
      throw new LeaseConfigurationError(
        `the lease database in ${this.#folder.path} is of version ${schema}, and this package knows ${SCHEMA}: ` +
          'use the same version of @leasehold/local in all processes of the folder',
        { store: 'local' },
      )
    }
    this.#epoch = BigInt(entries.get(epochKey) ?? 0)
  }

  /** The databases of earlier starts hold nothing that is still in force. */
  #removeEarlier(): void {
    for (const file of readdirSync(this.#folder.path)) {
      const boot = bootOfFile(file)
      const isEarlier = boot !== undefined && databaseFile(boot) !== this.#file
      if (isEarlier) rmSync(this.#folder.file(file), { force: true })
    }
  }
}
