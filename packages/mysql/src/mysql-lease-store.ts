import {
  type Clock,
  type Grant,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  type Metadata,
  systemClock,
} from '@leasehold/core'
import {
  breakLimit,
  conflictPause,
  MISSED_TURN_POLL,
  pagesOf,
  TurnAlarms,
  toMilliseconds,
} from '@leasehold/core/sql-kit'
import {
  AbortableCall,
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreCall,
  StoreChecks,
  type StoreFinding,
  type StoreLimits,
} from '@leasehold/core/store'
import {
  anotherGrant,
  checkOptionNames,
  listingText,
  MessageListeners,
  nothingToBreak,
  pause,
  raisedTo,
  systemRandom,
} from '@leasehold/core/store-kit'
import { holderOf, type Look, lookOf, type Row, renewOutcome } from './answers.js'
import { type Answer, columnIn, textIn } from './client/answer.js'
import { adapterFor, type ClientAdapter } from './client/client-adapter.js'
import type { MysqlClient } from './client/mysql-client.js'
import { DUPLICATE, errorNumberOf, failureOf, READ_ONLY } from './failure-of.js'
import { createTables } from './migrate.js'
import { probeServer } from './probe.js'
import { type ClaimColumns, type LookOptions, Operations } from './sql/operations.js'
import { Statements } from './statements.js'
import { SqlNames, type TableNames } from './table-names.js'

const DAY = 86_400_000

/** How many grants a statement renews at most. */
const RENEWED_TOGETHER = 250

/** How often a request is repeated while its row is locked, by a short statement or by an open transaction with a guard. */
const BUSY_REPEATS = 2

/** The longest grant id that the column takes, in bytes. */
const LONGEST_GRANT_ID = 1_024

/** The longest reason of a break, in characters. */
const LONGEST_REASON = 65_536

export interface MysqlLeaseStoreOptions extends TableNames {
  /** The machine's clock unless given. It is used only for pauses. */
  readonly clock?: Clock | undefined
  /** Random numbers from 0 to 1, 1 excluded, for pauses; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
}

/** A statement and the lease for which it is sent, for errors. */
interface Sending {
  readonly action: string
  readonly leaseName: string
  readonly call: StoreCall
}

/** The part of a record that a grant has. */
type Granted = Pick<LeaseRecord, 'owner' | 'ttl' | 'fencingToken' | 'previous'>

/**
 * Leases in a table of MySQL or MariaDB, which the store creates at its first operation if its client is a pool and the user
 * may. Leases expire by the clock of the server. Each statement commits by itself: no lock is held while a client thinks.
 *
 * A fencing token is the last token of its name plus one, and at least the server's time in microseconds. So tokens keep
 * growing when the table is restored from a backup, unless the server's clock is set back.
 *
 * The store uses no session state. It takes up to four connections of a pool at a time. MySQL notifies nobody: waiters poll,
 * the first one every half second, the others every two seconds; a release by the same store wakes the first of its waiters at
 * once. `close` leaves the pool or connection open.
 */
export class MysqlLeaseStore implements LeaseStore {
  readonly kind = 'mysql'
  readonly limits: StoreLimits = { minTtl: 1, maxTtl: 366 * DAY, infinite: true, ordered: true, metadata: 4_096 }
  readonly #adapter: ClientAdapter
  readonly #names: SqlNames
  readonly #sql: Operations
  readonly #statements: Statements
  readonly #clock: Clock
  readonly #random: () => number
  readonly #checks = new StoreChecks(this.kind, this.limits)
  readonly #messages: MessageListeners
  readonly #alarms: TurnAlarms
  /** The waiters of this store by name, in the order in which they came. */
  readonly #waiters = new Map<string, Set<string>>()

  constructor(client: MysqlClient, options: MysqlLeaseStoreOptions = {}) {
    const optionNames = { database: true, table: true, clock: true, random: true } as const
    checkOptionNames<MysqlLeaseStoreOptions>('MysqlLeaseStore', options, optionNames, { store: this.kind })
    const { clock = systemClock, random = systemRandom, database, table } = options
    this.#adapter = adapterFor(client)
    this.#names = new SqlNames({ database, table })
    this.#sql = new Operations(this.#names)
    this.#statements = new Statements(this.#adapter, clock, random, this.#names)
    this.#clock = clock
    this.#random = random
    this.#messages = new MessageListeners(clock)
    this.#alarms = new TurnAlarms(this.#messages, () => false)
  }

  /** Creates the tables of this store where they are missing, as the function `migrate` does. */
  async migrate(): Promise<void> {
    await createTables(this.#adapter, this.#names, new AbortableCall())
  }

  /** A claim of a free name takes two statements, and so does one that waits; one that is refused takes one. */
  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.acquire(request, call)
    this.#checkGrantId(request)
    const sending: Sending = { action: 'acquire', leaseName: request.name, call }
    const { name, owner, grantId, ttl, metadata, queue = false } = request
    const left = metadata === undefined ? null : JSON.stringify(metadata)
    const claim: ClaimColumns = { name, grantId, owner, ttl: toMilliseconds(ttl), metadata: left }
    for (let repeats = 0; ; ) {
      const look = await this.#look(name, sending, { tries: 'free' })
      const { row, first = grantId } = look
      if (row?.isLocked && row.isLeased && row.record.grantId === grantId) {
        if (!(await this.#didChange(this.#sql.repeat(claim), sending))) continue
        return await this.#granted(claim, { ...row.record, owner, ttl }, look, sending)
      }
      const isBusy = row?.isLocked !== true && !look.isUnlocked
      if (row?.isLocked !== true && !isBusy && first === grantId) {
        const token = await this.#take(claim, row, sending)
        if (token === undefined) continue
        const previous = row && { previous: row.record.metadata }
        return await this.#granted(claim, { ...claim, ttl, fencingToken: token, ...previous }, look, sending)
      }
      if (isBusy && !queue && repeats < BUSY_REPEATS) {
        await pause(this.#clock, conflictPause(repeats, this.#random), call)
        repeats += 1
        continue
      }
      if (queue) await this.#wait(claim, look, isBusy, sending)
      return refusal(row, isBusy)
    }
  }

  /** The fencing token of a new grant; `undefined` if the row is no longer as it was seen. */
  async #take(claim: ClaimColumns, row: Row | undefined, sending: Sending): Promise<bigint | undefined> {
    if (row !== undefined) {
      const { affected, insertId } = await this.#send(this.#sql.grant(claim, row.version), sending)
      return affected > 0 ? insertId : undefined
    }
    try {
      return (await this.#send(this.#sql.insert(claim), sending)).insertId
    } catch (error) {
      if (errorNumberOf((error as Error).cause) === DUPLICATE) return undefined
      throw error
    }
  }

  /** Gives up the place in the queue. */
  async #granted(
    { name, grantId }: ClaimColumns,
    { owner, ttl = Number.POSITIVE_INFINITY, fencingToken, previous }: Granted,
    { waiters }: Look,
    sending: Sending,
  ): Promise<AcquireOutcome> {
    this.#forget(name, grantId)
    // The place ends by itself if this fails: the grant stands.
    if (waiters > 0) await this.#send(this.#sql.leave({ name, grantId }), sending).catch(() => {})
    const grant: Grant = { name, owner, grantId, fencingToken, ttl }
    return { granted: true, grant, ...(previous && { previous }) }
  }

  async #wait(claim: ClaimColumns, look: Look, isBusy: boolean, sending: Sending): Promise<void> {
    const { name, grantId, ttl } = claim
    if (look.dead > 0) await this.#send(this.#sql.dropDead(name), sending)
    await this.#send(this.#sql.wait({ name, grantId }, ttl), sending)
    this.#waiters.set(name, (this.#waiters.get(name) ?? new Set()).add(grantId))
    const left = look.row?.record.remaining
    const remaining = left === Number.POSITIVE_INFINITY ? undefined : left
    this.#alarms.await(turnOf(grantId), { isFirst: (look.first ?? grantId) === grantId, isBusy, remaining })
  }

  /** Restarts the recorded ttl. */
  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    const [outcome] = await this.#renewed([grant], call)
    if (outcome === undefined) throw new LeaseUnavailableError('no answer', { store: this.kind })
    return outcome
  }

  /** One statement for up to 250 grants, and one more if some of them have ended. */
  async renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly RenewOutcome[]> {
    this.#checks.usable(call)
    const parts: Promise<readonly RenewOutcome[]>[] = []
    // Rows are locked in the order of their names: two statements must not wait for each other.
    const sorted = [...grants.entries()].sort(([, a], [, b]) => (a.name < b.name ? -1 : Number(a.name > b.name)))
    for (let from = 0; from < sorted.length; from += RENEWED_TOGETHER) {
      const part = sorted.slice(from, from + RENEWED_TOGETHER)
      parts.push(
        this.#renewed(
          part.map(([, grant]) => grant),
          call,
        ),
      )
    }
    const outcomes = (await Promise.all(parts)).flat()
    const inOrder: RenewOutcome[] = []
    for (const [index, [place]] of sorted.entries()) inOrder[place] = outcomes[index] as RenewOutcome
    return inOrder
  }

  async #renewed(grants: readonly Grant[], call: StoreCall): Promise<readonly RenewOutcome[]> {
    const sending: Sending = { action: 'renew', leaseName: grants[0]?.name ?? '', call }
    const { affected } = await this.#send(this.#sql.renew(grants), sending)
    if (affected === grants.length) return grants.map(() => ({ renewed: true }))
    const rows = await this.#rowsOf(
      grants.map(({ name }) => name),
      sending,
    )
    return grants.map((grant) => renewOutcome(grant, rows.get(grant.name)))
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    const { name } = grant
    const sending: Sending = { action: 'update', leaseName: name, call }
    if (await this.#didChange(this.#sql.update(grant, JSON.stringify(metadata)), sending)) return { renewed: true }
    return renewOutcome(grant, (await this.#look(name, sending)).row)
  }

  /** A token that is ahead of the server's clock is lost with the table, or when an older backup is restored. */
  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call)
    const sending: Sending = { action: 'raise', leaseName: grant.name, call }
    const raised = raisedTo(grant, token)
    if (await this.#didChange(this.#sql.raise(raised, token), sending)) return { renewed: true }
    return renewOutcome(raised, (await this.#look(grant.name, sending)).row)
  }

  /** Does not wait for a guard in an open transaction, which still keeps the name from others until it ends. */
  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.#checks.release(grant, call, metadata)
    const { name, fencingToken } = grant
    const sending: Sending = { action: 'release', leaseName: name, call }
    const left = metadata === undefined ? null : JSON.stringify(metadata)
    if (await this.#didChange(this.#sql.release(grant, left, fencingToken), sending)) {
      this.#wake(name)
      return { released: true }
    }
    return { released: false, ...holderOf((await this.#look(name, sending)).row) }
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    return (await this.#look(name, { action: 'read', leaseName: name, call })).row?.record
  }

  /** Reads pages of 500 names, in the order of their UTF-8. */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
    this.#checks.usable(call)
    yield* pagesOf<LeaseRecord>(async (after, most) => {
      const sending: Sending = { action: 'list', leaseName: prefix, call }
      return (await this.#rows(this.#sql.list(prefix, after?.name, most), sending)).map(({ record }) => record)
    })
  }

  /** Waits for a guard in an open transaction: the change is a new grant. */
  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.change(grant, to, call)
    this.#checkGrantId({ ...to, name: grant.name })
    const { name, grantId } = grant
    const sending: Sending = { action: 'change', leaseName: name, call }
    const claim: ClaimColumns = { ...to, name, ttl: toMilliseconds(grant.ttl), metadata: null }
    for (let repeats = 0; ; repeats += 1) {
      const look = await this.#look(name, sending, { tries: 'held' })
      const { row } = look
      if (row?.isLocked !== true || !row.isLeased) return refusal(row, false)
      const { record, version } = row
      if (record.grantId === to.grantId) {
        if (!(await this.#didChange(this.#sql.changed({ ...to, name }), sending))) continue
        return await this.#passedOn(claim, { ...record, owner: to.owner }, look, sending)
      }
      if (record.grantId !== grantId) return refusal(row, false)
      if (look.isUnlocked) {
        const { affected, insertId } = await this.#send(this.#sql.change(grant, to, version), sending)
        if (affected === 0) continue
        const passed: Granted = { ...record, owner: to.owner, fencingToken: insertId, previous: record.metadata }
        return await this.#passedOn(claim, passed, look, sending)
      }
      await pause(this.#clock, conflictPause(repeats, this.#random), call)
    }
  }

  async #passedOn(claim: ClaimColumns, record: Granted, look: Look, sending: Sending): Promise<AcquireOutcome> {
    const outcome = await this.#granted(claim, record, look, sending)
    this.#messages.notify(turnOf(claim.grantId))
    return outcome
  }

  /**
   * The reason is kept in the metadata, as `breakReason`, until the next grant. Does not wait for a guard in an open
   * transaction, which still keeps the name from others until it ends.
   */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    this.#checks.break(name, options, call)
    const { period, reason = null, grantId = null } = options
    if ((reason?.length ?? 0) > LONGEST_REASON) {
      throw this.#misconfigured(`the reason must be at most ${LONGEST_REASON} characters`, name)
    }
    const sending: Sending = { action: 'break', leaseName: name, call }
    const sql = this.#sql.break(name, breakLimit(period, this.limits.maxTtl), reason, grantId)
    const { affected, insertId } = await this.#send(sql, sending)
    if (affected > 0) {
      if (insertId === 0n) this.#wake(name)
      return { remaining: Number(insertId) }
    }
    const { row } = await this.#look(name, sending)
    const isOther = grantId !== null && row !== undefined && row.record.grantId !== grantId
    throw isOther ? anotherGrant(name, this.kind) : nothingToBreak(name, this.kind)
  }

  async withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    this.#forget(name, grantId)
    this.#checks.name(name, call)
    await this.#send(this.#sql.leave({ name, grantId }), { action: 'withdraw', leaseName: name, call })
    this.#wake(name)
  }

  /**
   * With the grant id of a request that has a place in the queue, yields when that waiter should ask again. Without a grant id,
   * yields when the name has become free: at once after a release by this store, else within a second.
   */
  async *watch(name: string, call: StoreCall, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    if (grantId !== undefined) return yield* this.#messages.listen(turnOf(grantId), call)
    const isFree = async (looking: StoreCall) =>
      (await this.#look(name, { action: 'watch', leaseName: name, call: looking })).row?.isLocked !== true
    yield* this.#messages.listenRegistered(freeOf(name), call, () => MISSED_TURN_POLL, isFree)
  }

  /** Asks the server for its configuration. Writes nothing. */
  async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    this.#checks.usable(call)
    return await probeServer(this.#adapter, call)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  /** Leaves the client of the user open. */
  close(): Promise<void> {
    this.#checks.close()
    this.#statements.close()
    this.#messages.close()
    this.#alarms.clear()
    this.#waiters.clear()
    return Promise.resolve()
  }

  /** The server notifies nobody: a release wakes the first waiter of this store, which is most often the first of all. */
  #wake(name: string): void {
    const [first] = this.#waiters.get(name) ?? []
    if (first !== undefined) this.#messages.notify(turnOf(first))
    this.#messages.notify(freeOf(name))
  }

  #forget(name: string, grantId: string): void {
    this.#alarms.forget(turnOf(grantId))
    const waiters = this.#waiters.get(name)
    waiters?.delete(grantId)
    if (waiters?.size === 0) this.#waiters.delete(name)
  }

  #checkGrantId({ name, grantId }: Pick<Grant, 'name' | 'grantId'>): void {
    if (Buffer.byteLength(grantId) <= LONGEST_GRANT_ID) return
    throw this.#misconfigured(`a grant id must be at most ${LONGEST_GRANT_ID} bytes`, name)
  }

  #misconfigured(message: string, leaseName: string): LeaseConfigurationError {
    return new LeaseConfigurationError(message, { leaseName, store: this.kind })
  }

  async #look(name: string, sending: Sending, options: LookOptions = {}): Promise<Look> {
    return this.#lookOf(textIn(await this.#send(this.#sql.look(name, options), sending)), sending)
  }

  async #rowsOf(names: readonly string[], sending: Sending): Promise<ReadonlyMap<string, Row>> {
    const rows = await this.#rows(this.#sql.lookAll(names), sending)
    return new Map(rows.map((row) => [row.record.name, row]))
  }

  async #rows(sql: string, sending: Sending): Promise<Row[]> {
    const { rows } = await this.#send(sql, sending)
    return rows.flatMap((answer) => this.#lookOf(columnIn(answer), sending).row ?? [])
  }

  /** A replica may lag behind: its answers would be of the past. */
  #lookOf(answer: string | undefined, { action, leaseName }: Sending): Look {
    const look = lookOf(answer ?? '')
    if (!look.isReadOnly) return look
    const message = `${action} of lease '${leaseName}' failed: ${READ_ONLY}`
    throw new LeaseUnavailableError(message, { leaseName, store: this.kind })
  }

  async #didChange(sql: string, sending: Sending): Promise<boolean> {
    return (await this.#send(sql, sending)).affected > 0
  }

  async #send(sql: string, { action, leaseName, call }: Sending): Promise<Answer> {
    try {
      return await this.#statements.run(sql, call)
    } catch (error) {
      if (call.aborted) throw error
      // A listing has a prefix where other operations have the name of a lease.
      if (action === 'list') throw failureOf(listingText(leaseName), '', error)
      throw failureOf(`${action} of lease '${leaseName}'`, leaseName, error)
    }
  }
}

function refusal(row: Row | undefined, isBusy: boolean): AcquireOutcome {
  if (isBusy && row !== undefined) {
    const { waiters: _, ...holder } = row.record
    // An open transaction of the last holder still keeps the name from others.
    return { granted: false, holder: { ...holder, state: 'leased' } }
  }
  return { granted: false, ...holderOf(row) }
}

function turnOf(grantId: string): string {
  return `turn ${grantId}`
}

function freeOf(name: string): string {
  return `free ${name}`
}
