import { systemClock } from '@leasehold/core'
import type { Pool, QueryConfig } from 'pg'
import type { RivalLock, TryLock } from '../rival-lease.js'
import type { LockRow, ShedlockStatements } from './statements.js'

export interface ShedlockOptions {
  readonly pool: Pool
  readonly statements: ShedlockStatements
  /** The name of the host, unless a user of ShedLock chooses another one. */
  readonly lockedBy: string
  /** In milliseconds. */
  readonly lockAtMostFor: number
  /** How often a lock is extended, in milliseconds; never unless given. */
  readonly keepAlive: number | undefined
  /** The wall clock of the client, in milliseconds since 1970. */
  readonly wall: () => number
}

/**
 * ShedLock's algorithm on its own table: a row is inserted, later updated where its `lock_until` has passed, and unlocked by
 * another `lock_until`, at the end of the work in any case. With `keepAlive`, locks are extended as its
 * `KeepAliveLockProvider` does, until an extension fails.
 */
export function shedlock({ pool, statements, wall, keepAlive, ...lock }: ShedlockOptions): TryLock {
  const changes = async (query: QueryConfig): Promise<boolean> => ((await pool.query(query)).rowCount ?? 0) > 0
  return async (name, onLost) => {
    const rowNow = (): LockRow => ({ ...lock, name, now: wall() })
    const row = rowNow()
    const isLocked = (await changes(statements.insert(row))) || (await changes(statements.update(row)))
    if (!isLocked) return undefined
    return new ShedlockLock(row.now + lock.lockAtMostFor, {
      wall,
      keepAlive,
      extend: async () => {
        const extended = rowNow()
        return (await changes(statements.extend(extended))) ? extended.now + lock.lockAtMostFor : undefined
      },
      unlock: () => changes(statements.unlock(rowNow())),
      onLost: () => onLost({ reason: 'expired' }),
    })
  }
}

interface ShedlockActs {
  readonly wall: () => number
  readonly keepAlive: number | undefined
  /** Resolves with the new end; `undefined` if it was not extended. */
  readonly extend: () => Promise<number | undefined>
  readonly unlock: () => Promise<unknown>
  readonly onLost: () => void
}

/** Held until `lockAtMostFor` after it was asked for, on the wall clock. */
class ShedlockLock implements RivalLock {
  readonly #acts: ShedlockActs
  #until: number
  /** A lock whose extension has failed is not unlocked any more. */
  #isValid = true
  #isOver = false
  #cancel = (): void => {}

  constructor(until: number, acts: ShedlockActs) {
    this.#until = until
    this.#acts = acts
    this.#extendLater()
  }

  remaining(): number {
    return this.#until - this.#acts.wall()
  }

  /** ShedLock does not say whether the row was still its own. */
  async release(): Promise<boolean> {
    this.#isOver = true
    this.#cancel()
    if (this.#isValid) await this.#acts.unlock()
    return true
  }

  #extendLater(): void {
    const { keepAlive } = this.#acts
    if (keepAlive !== undefined) this.#cancel = systemClock.schedule(keepAlive, () => void this.#extend())
  }

  async #extend(): Promise<void> {
    const until = await this.#acts.extend().catch(() => this.#until)
    if (this.#isOver) return
    if (until !== undefined) {
      this.#until = until
      this.#extendLater()
      return
    }
    this.#isValid = false
    this.#until = Number.NEGATIVE_INFINITY
    this.#acts.onLost()
  }
}
