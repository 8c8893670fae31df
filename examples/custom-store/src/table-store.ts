// #region store
import type { Grant, LeaseRecord, LeaseStore, Metadata } from '@leasehold/core'
import {
  type AcquireOutcome,
  type AcquireRequest,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreCall,
  StoreChecks,
} from '@leasehold/core/store'

/** One row of the table, as a database would keep it. */
interface Row {
  readonly grant: Grant
  /** By the clock of the table; 0 after a release. */
  readonly endsAt: number
  readonly metadata: Metadata
  /** The metadata of the holder before. */
  readonly previous: Metadata | undefined
}

/** A stand-in for a database: rows, and a clock of its own. */
export interface Table {
  readonly rows: Map<string, Row>
  now(): number
}

/** Leases in a table. Each method is one atomic step of the table, decided by the table's own clock. */
export class TableLeaseStore implements LeaseStore {
  readonly kind = 'table'
  readonly limits = { minTtl: 100, maxTtl: 3_600_000, infinite: false, ordered: false }
  readonly #table: Table
  readonly #checks = new StoreChecks(this.kind, this.limits)

  constructor(table: Table) {
    this.#table = table
  }

  /** Notifies holders and waiters that the store was closed. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.acquire(request, call)
    const { name, owner, grantId, ttl } = request
    const row = this.#table.rows.get(name)
    const isHeld = row !== undefined && this.#isInForce(row)
    // A request that is repeated under the same id gets the same grant again.
    const isRepeated = isHeld && row.grant.grantId === grantId
    if (isHeld && !isRepeated) return { granted: false, holder: this.#recordOf(row) }
    // The row of a free name is kept, because the next token has to be larger.
    const last = row?.grant.fencingToken ?? 0n
    const grant: Grant = { name, owner, grantId, fencingToken: isRepeated ? last : last + 1n, ttl }
    const previous = isRepeated ? row.previous : row?.metadata
    // Without metadata in the request, the metadata stays as it is.
    const metadata = request.metadata ?? row?.metadata ?? {}
    this.#table.rows.set(name, { grant, metadata, previous, endsAt: this.#table.now() + ttl })
    return { granted: true, grant, ...(previous === undefined ? {} : { previous }) }
  }

  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    return this.#renew(grant, {})
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    return this.#renew(grant, { metadata })
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.#checks.release(grant, call, metadata)
    const row = this.#table.rows.get(grant.name)
    if (row === undefined || !this.#isInForce(row)) return { released: false }
    if (row.grant.grantId !== grant.grantId) return { released: false, holder: this.#recordOf(row) }
    const left = metadata === undefined || this.#isLate(grant) ? row.metadata : metadata
    this.#table.rows.set(grant.name, { ...row, endsAt: 0, metadata: left })
    return { released: true }
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    const row = this.#table.rows.get(name)
    return row === undefined ? undefined : this.#recordOf(row)
  }

  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord, void, undefined> {
    for (const [name, row] of [...this.#table.rows]) {
      this.#checks.usable(call)
      if (name.startsWith(prefix)) yield this.#recordOf(this.#table.rows.get(name) ?? row)
    }
  }

  async close(): Promise<void> {
    this.#checks.close()
  }

  #renew(grant: Grant, changes: Partial<Row>): RenewOutcome {
    const { name, grantId, ttl } = grant
    const row = this.#table.rows.get(name)
    if (row === undefined) return { renewed: false, reason: 'deleted' }
    if (row.grant.grantId !== grantId) return { renewed: false, reason: 'taken', holder: this.#recordOf(row) }
    if (!this.#isInForce(row)) return { renewed: false, reason: 'expired' }
    // A late duplicate of a claim can be granted again, under the same grant id: a grant that has ended stays over.
    if (this.#isLate(grant)) return { renewed: false, reason: 'expired', left: true }
    this.#table.rows.set(name, { ...row, ...changes, endsAt: this.#table.now() + ttl })
    return { renewed: true }
  }

  /** Whether the record is that of a later grant with the same grant id. */
  #isLate({ name, grantId, fencingToken }: Grant): boolean {
    const grant = this.#table.rows.get(name)?.grant
    return grant?.grantId === grantId && grant.fencingToken > fencingToken
  }

  #isInForce({ endsAt }: Row): boolean {
    return this.#table.now() < endsAt
  }

  #recordOf(row: Row): LeaseRecord {
    const { grant, metadata, previous, endsAt } = row
    if (!this.#isInForce(row)) return { ...grant, metadata, state: endsAt === 0 ? 'available' : 'expired' }
    const found = previous === undefined ? {} : { previous }
    return { ...grant, metadata, ...found, state: 'leased', remaining: endsAt - this.#table.now() }
  }
}
// #endregion store
