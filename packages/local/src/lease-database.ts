import { readdirSync, rmSync } from 'node:fs'
import { LeaseConfigurationError } from '@leasehold/core'
import type { Boot } from './boot.js'
import { bootOfFile, databaseFile } from './database-file.js'
import { beginEpoch, endOfTokens, firstToken, tokenNow } from './fencing-epoch.js'
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

  /**
   * A token larger than `last`, than all of earlier starts of the machine, and not below the wall clock: `last` may be of an
   * older copy of the database. In a write transaction.
   */
  tokenAfter(last: bigint): bigint {
    const token = largerOf(last + 1n, largerOf(firstToken(this.#epoch), tokenNow()))
    return token < endOfTokens(this.#epoch) ? token : this.#tokenOfNextEpoch(token)
  }

  /** The tokens of this epoch are used up; another process may have begun the next one before. */
  #tokenOfNextEpoch(token: bigint): bigint {
    this.#epoch = BigInt(this.entries.get(epochKey) ?? 0)
    while (token >= endOfTokens(this.#epoch)) this.#beginEpoch(this.entries)
    return largerOf(token, firstToken(this.#epoch))
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

function largerOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
