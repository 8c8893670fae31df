import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { isLockedAt } from '@leasehold/core/life-cycle'
import { largerOf } from '@leasehold/core/store-kit'
import { type Boot, bootOfFile, databaseFile } from './boot.js'
import { checkEpochs, endOfTokens, epochFor, firstToken, tokenNow } from './fencing-epoch.js'
import { type LeaseChange, type LeaseEntry, leaseEntries } from './lease-entry.js'
import type { LeaseFolder } from './lease-folder.js'
import type { LogFacts } from './log-lines.js'
import { RegisterLog } from './register-log.js'

const EPOCH_FILE = 'epoch'

/** The fact with the largest token of the names that are no longer kept. */
const LARGEST_RETIRED = 'largest-retired'

/** For how long a lease has to be over before its name is no longer kept, in milliseconds. */
const RETIREMENT = 3_600_000

/**
 * The database of this start of the machine. Changes are not flushed to the disk: they outlive the process. A power
 * failure may undo the last ones, but the database of the start before it is not opened again.
 */
export class LeaseDatabase {
  readonly entries: RegisterLog<LeaseEntry, LeaseChange>
  readonly #folder: LeaseFolder
  readonly #file: string
  /** The last epoch that is known, and its log: another process may have begun another log. */
  #epoch: { readonly log: string; readonly begun: bigint } | undefined

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
   * A token larger than `recorded`, than the tokens of retired names and of earlier starts of the machine, and not below
   * the wall clock, because `recorded` may come from an older copy of the database.
   */
  tokenAfter(recorded: bigint): bigint {
    const { log = '', [LARGEST_RETIRED]: retired = 0 } = this.entries.facts
    const last = largerOf(recorded, BigInt(retired))
    const token = largerOf(last + 1n, tokenNow())
    return largerOf(token, firstToken(this.#epochOf(token, log)))
  }

  /** Before a token is recorded that this database has not given: begins an epoch, so that a start of the machine gives larger ones. */
  cover(token: bigint): void {
    this.#epochOf(token)
  }

  #epochOf(token: bigint, log = this.entries.facts.log ?? ''): bigint {
    if (this.#epoch?.log !== log || token >= endOfTokens(this.#epoch.begun)) {
      this.#epoch = { log, begun: epochFor(this.#folder, EPOCH_FILE, log, token) }
    }
    return this.#epoch.begun
  }

  /** The identity of a new log, for its epochs. */
  #begin(): LogFacts {
    this.#removeEarlier()
    // If the epochs cannot be read, this throws now, and not at the first grant.
    checkEpochs(this.#folder, EPOCH_FILE)
    return { log: randomBytes(9).toString('base64url') }
  }

  /** Removes the files of earlier starts of the machine: their leases are over. */
  #removeEarlier(): void {
    for (const file of readdirSync(this.#folder.path)) {
      const boot = bootOfFile(file)
      const isEarlier = boot !== undefined && databaseFile(boot) !== this.#file
      if (!isEarlier) continue
      this.#folder.checkReplaceable(this.#folder.file(file))
      rmSync(this.#folder.file(file), { force: true })
    }
  }
}

/**
 * A name whose lease is over, without metadata and waiters, needs only its token. The largest token of all such
 * names is kept instead, so that a folder does not grow with the names that were ever used.
 */
function retire({ lease, watched, queue }: LeaseEntry, facts: LogFacts, now: number): LogFacts | undefined {
  const isOver = !isLockedAt(lease, now - RETIREMENT)
  if (!isOver || watched || (queue?.size ?? 0) > 0 || Object.keys(lease.metadata).length > 0) return undefined
  const largest = BigInt(facts[LARGEST_RETIRED] ?? 0)
  return lease.fencingToken > largest ? { ...facts, [LARGEST_RETIRED]: String(lease.fencingToken) } : facts
}
