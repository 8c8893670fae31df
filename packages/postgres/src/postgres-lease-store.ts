import {
  type Clock,
  type Grant,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  type Metadata,
  systemClock,
} from '@leasehold/core'
import { breakLimit, MISSED_TURN_POLL, pagesOf, TurnAlarms, toMilliseconds } from '@leasehold/core/sql-kit'
import {
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
import { anotherGrant, checkOptionNames, nothingToBreak, systemRandom } from '@leasehold/core/store-kit'
import {
  type GrantAnswer,
  grantOutcome,
  type ReadAnswer,
  type RecordAnswer,
  type ReleaseAnswer,
  type RenewAnswer,
  readRecordOf,
  releaseOutcome,
  renewOutcome,
} from './answers.js'
import { adapterFor } from './client/client-adapter.js'
import type { ClientAdapter } from './client/connection.js'
import type { PostgresClient } from './client/postgres-client.js'
import { AdvisoryCompat } from './compat/advisory-compat.js'
import type { PostgresCompat } from './compat/advisory-key.js'
import { OUTDATED } from './failure-of.js'
import { migrate } from './migrate.js'
import type { Query } from './operation.js'
import { OperationQueue } from './operation-queue.js'
import { misconfigured } from './postgres-options.js'
import { type Probed, probeServer } from './probe.js'
import { toColumn } from './sql-text.js'
import { SqlNames, type TableNames } from './table-names.js'
import { Turns } from './turns.js'

const DAY = 86_400_000

/** How often a request is repeated while its row is locked, by a short transaction or by an open one with a guard. */
const BUSY_REPEATS = 2

/** How often each waiter asks while an advisory lock of `compat` is taken, in milliseconds: its end notifies nobody. */
const ADVISORY_PAUSE = 250

/** For how long a watch without a place in the queue is registered, in milliseconds, unless it is repeated. */
const WATCH_PERIOD = 30_000

export interface PostgresLeaseStoreOptions extends TableNames {
  /**
   * The pool or client that gives the connection for notifications; that of the operations unless given. If the operations
   * go through a PgBouncer, give one that leads to the server itself. `false`: there are no notifications, and waiters
   * poll.
   */
  readonly listen?: PostgresClient | false | undefined
  /**
   * Holds an advisory lock together with each lease, while processes that still use only the lock are being replaced. It needs
   * a Pool of pg, and a connection to the server itself. Turn it off again in the deployment after that.
   */
  readonly compat?: PostgresCompat['library'] | PostgresCompat | undefined
  /** The machine's clock unless given. It is used only for pauses. */
  readonly clock?: Clock | undefined
  /** Random numbers from 0 to 1, 1 excluded, for pauses; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
}

/**
 * Leases in a table of PostgreSQL, which `migrate` creates. Each operation takes one statement and one round trip, and those
 * of a turn of the event loop share one. Leases expire by the clock of the server.
 *
 * A fencing token is the last token of its name plus one, and at least the server's time in microseconds. So tokens keep
 * growing when the table is restored from a backup, unless the server's clock is set back.
 *
 * The store uses no session state. It takes up to four connections of a pool at a time, and opens one more for notifications
 * with the first waiter. `close` leaves the pool or client open.
 */
export class PostgresLeaseStore implements LeaseStore {
  readonly kind = 'postgres'
  readonly limits: StoreLimits = {
    minTtl: 1,
    maxTtl: 366 * DAY,
    infinite: true,
    ordered: true,
    metadata: 4_096,
  }
  readonly #client: PostgresClient
  readonly #names: TableNames
  readonly #queue: OperationQueue
  readonly #turns: Turns
  readonly #random: () => number
  readonly #probed: Probed
  readonly #compat: AdvisoryCompat | undefined
  readonly #checks = new StoreChecks(this.kind, this.limits)
  /** The end of a guard notifies nobody: a notification would make all commits with a guard wait for each other. */
  readonly #alarms: TurnAlarms

  constructor(client: PostgresClient, options: PostgresLeaseStoreOptions = {}) {
    const optionNames = { schema: true, table: true, listen: true, compat: true, clock: true, random: true } as const
    checkOptionNames<PostgresLeaseStoreOptions>('PostgresLeaseStore', options, optionNames, { store: this.kind })
    const { listen = client, clock = systemClock, random = systemRandom, schema, table } = options
    const adapter = adapterFor(client)
    this.#client = client
    this.#random = random
    this.#names = { ...(schema && { schema }), ...(table && { table }) }
    this.#queue = new OperationQueue(adapter, clock, random, new SqlNames({ schema, table }))
    const listening: Pick<ClientAdapter, 'listen' | 'openSession'> =
      listen === false ? {} : listen === client ? adapter : adapterFor(listen)
    this.#turns = new Turns(adapter, listening, clock, random)
    this.#alarms = new TurnAlarms(this.#turns.messages, () => this.#turns.isHearing)
    if (options.compat !== undefined) {
      // The pool for notifications leads to the server itself.
      const open = listening.openSession ?? adapter.openSession
      this.#compat = new AdvisoryCompat(options.compat, open, clock, {
        acquire: (request, call) => this.#claim(request, call),
        renew: (grants, call) => this.#renew(grants, call),
        release: (grant, call) => this.#free(grant, call),
        read: (name, call) => this.#read(name, call),
      })
    }
    this.#probed = { operations: adapter, notifications: listening, clock }
  }

  /** Creates the tables and functions of this store, or brings older ones up to date, as the function `migrate` does. */
  async migrate(): Promise<void> {
    await migrate(this.#client, this.#names)
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    this.#checks.acquire(request, call)
    if (this.#compat === undefined) return await this.#claim(request, call)
    const outcome = await this.#compat.acquire(request, call)
    if (!outcome.granted && request.queue === true && outcome.holder?.remaining === Number.POSITIVE_INFINITY) {
      const pause = ADVISORY_PAUSE * (0.5 + this.#random() / 2)
      this.#turns.messages.setAlarm(turnOf(toColumn(request.grantId)), pause)
    }
    return outcome
  }

  async #claim(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, metadata, queue = false } = request
    const left = metadata === undefined ? null : JSON.stringify(metadata)
    const id = toColumn(grantId)
    const args = [toColumn(name), id, toColumn(owner), toMilliseconds(ttl), left, queue, this.#turns.channel]
    const isRepeated = (answer: unknown, repeats: number) => !queue && repeats < BUSY_REPEATS && isBusy(answer)
    const toOutcome = (answer: unknown) => {
      const granting = answer as GrantAnswer
      if (queue) this.#awaitTurn(id, granting)
      return grantOutcome(granting, request)
    }
    const outcome = await this.#run('acquire', name, args, call, toOutcome, { isRepeated })
    if (!outcome.granted && queue) this.#turns.subscribe()
    return outcome
  }

  /** Restarts the recorded ttl. */
  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call)
    const [outcome] = await this.#renewed([grant], call)
    if (outcome === undefined || outcome instanceof Error) throw outcome
    return outcome
  }

  /** Sends one statement. A row that another transaction has locked does not delay the others: its outcome is an error. */
  async renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    this.#checks.usable(call)
    return grants.length === 0 ? [] : await this.#renewed(grants, call)
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.grant(grant, call, metadata)
    return await this.#changed('update', grant, [JSON.stringify(metadata), String(grant.fencingToken)], call)
  }

  /**
   * Rejects with a `LeaseConfigurationError` where the functions in the database are older than this operation. A token that is
   * ahead of the server's clock is lost with the table, or when an older backup is restored.
   */
  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    this.#checks.token(grant, token, call)
    return await this.#changed('raise', grant, [String(token), String(grant.fencingToken)], call)
  }

  /** Renews one grant with an operation that also changes its row. */
  async #changed(operation: string, grant: Grant, args: readonly string[], call: StoreCall): Promise<RenewOutcome> {
    const change = () => this.#change(operation, grant, args, call)
    if (this.#compat === undefined) return await change()
    const [outcome] = await this.#compat.renew([grant], call, async () => [await change()])
    if (outcome === undefined || outcome instanceof Error) throw outcome
    return outcome
  }

  async #change(operation: string, grant: Grant, args: readonly string[], call: StoreCall): Promise<RenewOutcome> {
    const { name, grantId } = grant
    const all = [toColumn(name), toColumn(grantId), ...args]
    const toOutcome = (answer: unknown) => {
      if (isUnknown(answer)) throw misconfigured(`${operation} of lease '${name}' failed: ${OUTDATED}`)
      return renewOutcome(answer as RenewAnswer)
    }
    const outcome = await this.#run(operation, name, all, call, toOutcome, { isRepeated: isBusy })
    if (outcome === undefined) throw this.#locked(grant)
    return outcome
  }

  /** Does not wait for a guard in an open transaction, which still keeps the name from others until it ends. */
  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    this.#checks.release(grant, call, metadata)
    if (this.#compat === undefined) return await this.#free(grant, call, metadata)
    return await this.#compat.release(grant, call, () => this.#free(grant, call, metadata))
  }

  async #free(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    const { name, grantId, fencingToken } = grant
    const left = metadata === undefined ? [null] : [JSON.stringify(metadata), String(fencingToken)]
    const args = [toColumn(name), toColumn(grantId), ...left]
    return await this.#run('release', name, args, call, (answer) => releaseOutcome(answer as ReleaseAnswer))
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    return this.#compat === undefined ? await this.#read(name, call) : await this.#compat.read(name, call)
  }

  #read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    return this.#run('read', name, [toColumn(name)], call, (answer) =>
      answer === null ? undefined : readRecordOf(answer as ReadAnswer),
    )
  }

  /** Reads pages of 500 names, in the order of their UTF-8. */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
    this.#checks.usable(call)
    const pages = pagesOf<ReadAnswer>((after, most) =>
      this.#run(
        'list',
        prefix,
        [toColumn(prefix), after?.[0][12] ?? '', most],
        call,
        (answer) => answer as ReadAnswer[],
        {
          isLarge: true,
        },
      ),
    )
    for await (const answer of pages) yield readRecordOf(answer)
  }

  /** Waits for a guard in an open transaction: the change is a new grant. */
  async change(grant: Grant, to: Pick<Grant, 'grantId' | 'owner'>, call: StoreCall): Promise<AcquireOutcome> {
    const { name, grantId } = grant
    this.#checks.change(grant, to, call)
    if (this.#compat !== undefined) {
      throw misconfigured(
        'a lease cannot be handed off with compat: an advisory lock belongs to one session; release it',
      )
    }
    const args = [toColumn(name), toColumn(grantId), toColumn(to.grantId), toColumn(to.owner)]
    const toOutcome = (answer: unknown) => grantOutcome(answer as GrantAnswer, { ...to, name })
    return await this.#run('change', name, args, call, toOutcome, { isRepeated: isBusy })
  }

  /**
   * The reason is kept in the metadata, as `breakReason`, until the next grant. Does not wait for a guard in an open
   * transaction, which still keeps the name from others until it ends.
   */
  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    this.#checks.break(name, options, call)
    const { period, reason, grantId } = options
    const args = [
      toColumn(name),
      breakLimit(period, this.limits.maxTtl),
      reason === undefined ? null : toColumn(reason),
      grantId === undefined ? null : toColumn(grantId),
    ]
    return await this.#run('break', name, args, call, (answer) => {
      const [word, remaining = 0] = answer as readonly [string, number?]
      if (word === 'broken') return { remaining }
      if (word === 'other') throw anotherGrant(name, this.kind)
      throw nothingToBreak(name, this.kind)
    })
  }

  async withdraw(name: string, grantId: string, call: StoreCall): Promise<void> {
    const id = toColumn(grantId)
    this.#alarms.forget(turnOf(id))
    this.#checks.name(name, call)
    return await this.#run('withdraw', name, [toColumn(name), id], call, () => undefined)
  }

  /**
   * With the grant id of a request that has a place in the queue, yields when it is that waiter's turn. Without a grant id,
   * yields when the name has become free; after an expiry, within 10 s.
   */
  async *watch(name: string, call: StoreCall, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
    this.#checks.name(name, call)
    this.#turns.subscribe()
    if (grantId !== undefined) return yield* this.#turns.messages.listen(turnOf(toColumn(grantId)), call)
    const args = [toColumn(name), this.#turns.channel, WATCH_PERIOD]
    const pause = () => (this.#turns.isHearing ? WATCH_PERIOD / 3 : MISSED_TURN_POLL)
    const isFree = (answer: unknown) => (answer as readonly [string, RecordAnswer | null])[1] === null
    const register = (registering: StoreCall) => this.#run('watch', name, args, registering, isFree)
    yield* this.#turns.messages.listenRegistered(`free ${toColumn(name)}`, call, pause, register)
  }

  /** Asks the server for its configuration, and tries a transaction and a notification. Writes nothing. */
  async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    this.#checks.usable(call)
    return await probeServer(this.#probed, call)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#checks.closed
  }

  /** Leaves the client of the user open. */
  close(): Promise<void> {
    this.#checks.close()
    this.#queue.close()
    this.#turns.close()
    this.#compat?.close()
    this.#alarms.clear()
    return Promise.resolve()
  }

  #renewed(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    return this.#compat === undefined ? this.#renew(grants, call) : this.#compat.renew(grants, call)
  }

  async #renew(grants: readonly Grant[], call: StoreCall): Promise<readonly (RenewOutcome | Error)[]> {
    const name = grants[0]?.name ?? ''
    const args = [
      grants.map((grant) => toColumn(grant.name)),
      grants.map(({ grantId }) => toColumn(grantId)),
      grants.map(({ fencingToken }) => String(fencingToken)),
    ]
    const toOutcomes = (answer: unknown) => {
      const exceptions = new Map(answer as readonly (readonly [number, RenewAnswer])[])
      return grants.map((grant, place) => renewOutcome(exceptions.get(place)) ?? this.#locked(grant))
    }
    return await this.#run('renew', name, args, call, toOutcomes, { isLarge: grants.length > 1 })
  }

  #locked({ name, owner }: Grant): LeaseUnavailableError {
    return new LeaseUnavailableError(
      `renew of lease '${name}' failed: another transaction has locked its row. Only the functions of ` +
        '@leasehold/postgres may lock it',
      { leaseName: name, owner, store: this.kind },
    )
  }

  /** The server notifies the first waiter of a release; it has to notice an expiry, or the end of a guard, by itself. */
  #awaitTurn(id: string, answer: GrantAnswer): void {
    if (answer[0] === 'granted') {
      this.#alarms.forget(turnOf(id))
      return
    }
    const [word, isFirst = false, holder] = answer
    const left = holder?.[5] ?? -1
    const remaining = left >= 0 ? left : undefined
    this.#alarms.await(turnOf(id), { isFirst, isBusy: word === 'busy', remaining })
  }

  #run<T>(
    operation: string,
    leaseName: string,
    args: readonly unknown[],
    call: StoreCall,
    toOutcome: (answer: unknown) => T,
    { isLarge, isRepeated }: { readonly isLarge?: boolean; readonly isRepeated?: Query['isRepeated'] } = {},
  ): Promise<T> {
    return this.#queue.run({ operation, leaseName, call: [operation, ...args], isRepeated }, toOutcome, call, isLarge)
  }
}

/** Whether another transaction has locked the row, so that nothing was done. */
function isBusy(answer: unknown): boolean {
  const [word] = answer as GrantAnswer | RenewAnswer
  return word === 'busy' || word === 'locked'
}

/** Whether the functions in the database are older than the operation. */
function isUnknown(answer: unknown): boolean {
  return (answer as readonly unknown[])[0] === 'unknown'
}

function turnOf(id: string): string {
  // The server cuts the id off in the same way, by characters.
  return `turn ${id.length <= 1_000 ? id : [...id].slice(0, 1_000).join('')}`
}
