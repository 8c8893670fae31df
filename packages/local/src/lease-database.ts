import { readdirSync, rmSync } from 'node:fs'
import type { Boot } from './boot.js'
import { bootOfFile, databaseFile } from './database-file.js'
import { beginEpoch, endOfTokens, epochFor, firstToken, tokenNow } from './fencing-epoch.js'
import { type LeaseChange, type LeaseEntry, leaseEntries } from './lease-entry.js'
import type { LeaseFolder } from './lease-folder.js'
import type { LogFacts } from './log-lines.js'
import { RegisterLog } from './register-log.js'
import { isLocked, stateAt } from './stored-record.js'

const EPOCH_FILE = 'epoch'

/** The fact that tells the largest token of the names that are no longer kept. */
const LARGEST_RETIRED = 'largest-retired'

/** For how long a lease has to be over before its name is no longer kept, in milliseconds. */
const RETIREMENT = 3_600_000

/**
 * The database of this start of the machine. Changes are not flushed: they outlive the process, and those that a power
 * failure takes back were of an earlier start, whose database is not opened again.
 */
export class LeaseDatabase {
  readonly entries: RegisterLog<LeaseEntry, LeaseChange>
  readonly #folder: LeaseFolder
  readonly #file: string
  #epoch = 0n

  /** `growth` is for tests, see `RegisterLogOptions`. */
  constructor(folder: LeaseFolder, boot: Boot, growth?: number) {
    this.#folder = folder
    this.#file = databaseFile(boot.id)
    this.entries = new RegisterLog({
      folder,
      file: this.#file,
      durable: false,
      kind: { ...leaseEntries, retire: (entry, facts) => retire(entry, facts, boot.now()) },
      begin: () => this.#begin(),
      ...(growth === undefined ? {} : { growth }),
    })
  }

  /**
   * A token larger than `recorded`, than those of names that were retired, than all of earlier starts of the machine, and
   * not below the wall clock: `recorded` may be of an older copy of the database.
   */
  tokenAfter(recorded: bigint): bigint {
    const { facts } = this.entries
    // Another process may have begun the log that is in force now.
    this.#epoch = largerOf(this.#epoch, BigInt(facts.epoch ?? 0))
    const last = largerOf(recorded, BigInt(facts[LARGEST_RETIRED] ?? 0))
    let token = largerOf(last + 1n, largerOf(firstToken(this.#epoch), tokenNow()))
    while (token >= endOfTokens(this.#epoch)) {
      this.#epoch = epochFor(this.#folder, EPOCH_FILE, token)
      token = largerOf(token, firstToken(this.#epoch))
    }
    return token
  }

  /** The epoch of a new log is on the disk before anyone is granted anything. */
  #begin(): { readonly epoch: string } {
    this.#removeEarlier()
    this.#epoch = beginEpoch(this.#folder, EPOCH_FILE)
    return { epoch: String(this.#epoch) }
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

/**
 * A name whose lease is over, with no metadata and no waiters, only has its token to keep. The largest token of all such
 * names does as well, so that a folder does not grow with the names that were ever used.
 */
function retire({ record, places }: LeaseEntry, facts: LogFacts, now: number): LogFacts | undefined {
  const isOver = !isLocked(stateAt(record, now)) && (record.endsAt === null || now >= record.endsAt + RETIREMENT)
  if (!isOver || places.size > 0 || record.watched || Object.keys(record.metadata).length > 0) return undefined
  const largest = BigInt(facts[LARGEST_RETIRED] ?? 0)
  const token = BigInt(record.fencingToken)
  return token > largest ? { ...facts, [LARGEST_RETIRED]: record.fencingToken } : facts
}

function largerOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
