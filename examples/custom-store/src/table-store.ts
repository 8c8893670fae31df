// #region store
import {
  type AcquireOutcome,
  type AcquireRequest,
  checkLeaseName,
  checkMetadata,
  type Grant,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  type ReleaseOutcome,
  type RenewOutcome,
} from '@leasehold/core'

/** One row of the table, as a database would keep it. */
interface Row {
  readonly grant: Grant
  /** On the clock of the table; 0 where it was released. */
  readonly endsAt: number
  readonly metadata: Readonly<Record<string, string>>
}

/** What stands for a database here: rows, and a clock that is its own. */
export interface Table {
  readonly rows: Map<string, Row>
  now(): number
}

/** Leases in a table. Each method is one atomic step of the table, decided by the table's own clock. */
export class TableLeaseStore implements LeaseStore {
  readonly kind = 'table'
  readonly limits = { minTtl: 100, maxTtl: 3_600_000, infinite: false, ordered: false }
  readonly #table: Table
  readonly #closing = new AbortController()

  constructor(table: Table) {
    this.#table = table
  }

  /** Holders and waiters learn by it that the store was closed. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<AcquireOutcome> {
    this.#check(signal)
    const { name, owner, grantId, ttl, metadata = {} } = request
    checkLeaseName(name)
    this.#checkTtl(name, ttl)
    checkMetadata(metadata)
    const row = this.#table.rows.get(name)
    const isOurs = row?.grant.grantId === grantId
    if (row !== undefined && this.#isInForce(row) && !isOurs) return { granted: false, holder: this.#recordOf(row) }
    // The row of a free name stays, for the token has to grow from it; asked for twice under one id, it is one grant.
    const last = row?.grant.fencingToken ?? 0n
    const fencingToken = isOurs && row !== undefined && this.#isInForce(row) ? last : last + 1n
    const grant: Grant = { name, owner, grantId, fencingToken, ttl }
    this.#table.rows.set(name, { grant, metadata, endsAt: this.#table.now() + ttl })
    return { granted: true, grant }
  }

  async renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    this.#check(signal)
    const row = this.#table.rows.get(grant.name)
    if (row === undefined) return { renewed: false, reason: 'deleted' }
    if (row.grant.grantId !== grant.grantId) return { renewed: false, reason: 'taken', holder: this.#recordOf(row) }
    if (!this.#isInForce(row)) return { renewed: false, reason: 'expired' }
    this.#table.rows.set(grant.name, { ...row, endsAt: this.#table.now() + grant.ttl })
    return { renewed: true }
  }

  async release(grant: Grant, signal: AbortSignal): Promise<ReleaseOutcome> {
    this.#check(signal)
    const row = this.#table.rows.get(grant.name)
    if (row === undefined || !this.#isInForce(row)) return { released: false }
    if (row.grant.grantId !== grant.grantId) return { released: false, holder: this.#recordOf(row) }
    this.#table.rows.set(grant.name, { ...row, endsAt: 0 })
    return { released: true }
  }

  async read(name: string, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    this.#check(signal)
    const row = this.#table.rows.get(name)
    return row === undefined ? undefined : this.#recordOf(row)
  }

  async close(): Promise<void> {
    this.#closing.abort()
  }

  #isInForce({ endsAt }: Row): boolean {
    return this.#table.now() < endsAt
  }

  #recordOf(row: Row): LeaseRecord {
    const { grant, metadata, endsAt } = row
    if (!this.#isInForce(row)) return { ...grant, metadata, state: endsAt === 0 ? 'available' : 'expired' }
    return { ...grant, metadata, state: 'leased', remaining: endsAt - this.#table.now() }
  }

  #checkTtl(name: string, ttl: number): void {
    const { minTtl, maxTtl } = this.limits
    if (ttl >= minTtl && ttl <= maxTtl) return
    throw new LeaseConfigurationError(`the ttl must be ${minTtl} to ${maxTtl} ms, not ${ttl}`, { leaseName: name })
  }

  #check(signal: AbortSignal): void {
    if (this.closed.aborted) throw new LeaseUnavailableError('the table store is closed', { store: this.kind })
    signal.throwIfAborted()
  }
}
// #endregion store
