import { LeaseConfigurationError, LeaseError, systemClock } from '@leasehold/core'
import { checkIdentifier, reasonOf } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { backoff, checkOptionNames, type Operation, Requests, systemRandom } from '@leasehold/core/store-kit'
import { type PostgresClient, PostgresGuard, type TableNames } from '@leasehold/postgres'
import {
  adapterFor,
  type ClientAdapter,
  failureOf,
  jsonTextLiteral,
  SqlNames,
  sqlStateOf,
  textLiteral,
  toColumn,
} from '@leasehold/postgres/internal'
import type { EntityState } from '../entity-state.js'
import { TABLE } from './entity-table.js'
import { FencedState, STATE_OPTIONS, type StateOptions } from './fenced-state.js'

/** The schema and the table are those of the leases, as given to `migrateEntities`. */
export interface PostgresStateOptions extends StateOptions, TableNames {}

/** How many transactions are on their way at most, so that a pool has connections left for its user. */
const TRANSACTIONS = 4

/** The smallest and the largest number of entities in a transaction. If fewer wait, it has all of them. */
const SMALLEST = 16
const LARGEST = 64

/** An entity with a longer text has a transaction of its own: it would hold up the others. */
const LARGE = 64 * 1024

/** The pauses before a transaction is repeated, in milliseconds; half of each is random. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 250

/** A conflict with another transaction: nothing was changed, and a repetition may succeed. */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01'])

/** Errors that may concern one entity of several: of its data, of a limit, or of its token (LH002 of the guard). */
const OF_ONE = /^(22|54|LH)/

const RIGHTS =
  'the user needs USAGE on the schema; SELECT, INSERT and UPDATE on the tables of entities and fences; and EXECUTE on the ' +
  'functions of the schema'

/**
 * Keeps each entity as JSON in a row of the table that `migrateEntities` creates. Each save is one transaction with the
 * fence of `PostgresGuard`; saves at the same time share transactions. `client`: a Pool or a Client of pg, or sql of
 * postgres.js. The leases may be in another store.
 */
export function postgresState(client: PostgresClient, options: PostgresStateOptions = {}): EntityState {
  const names = { ...STATE_OPTIONS, schema: true, table: true } as const
  checkOptionNames<PostgresStateOptions>('postgresState', options, names, { store: 'postgres' })
  const { schema, table, ...shared } = options
  return new PostgresState(new EntityRows(client, { schema, table }, shared), '', shared)
}

class PostgresState extends FencedState {
  readonly #rows: EntityRows
  readonly #region: string

  constructor(rows: EntityRows, region: string, options: StateOptions) {
    super('postgres', options)
    this.#rows = rows
    this.#region = region
  }

  forRegion(name: string): EntityState {
    checkIdentifier('name of a region', name)
    return new PostgresState(this.#rows, name, this.options)
  }

  protected read(id: string, token: bigint, call: StoreCall): Promise<string | undefined> {
    return this.#rows.read({ region: this.#region, id }, token, call)
  }

  protected write(id: string, text: string, token: bigint, call: StoreCall): Promise<void> {
    return this.#rows.write({ region: this.#region, id, text }, token, call)
  }

  protected failureOf(action: string, id: string, error: unknown): unknown {
    return postgresFailure(action, id, error)
  }
}

/** The key of a row. */
interface RowKey {
  readonly region: string
  readonly id: string
}

/** The first statement of a transaction, and the row that is written after it. */
interface Fenced {
  readonly fence: string
  readonly resource: string
  readonly row?: RowKey & { readonly text: string }
}

/** The rows of entities. What is asked for at the same time shares transactions. */
class EntityRows {
  readonly #adapter: ClientAdapter
  readonly #guard: PostgresGuard
  readonly #table: string
  readonly #fenced: Requests<Fenced, readonly unknown[]>
  readonly #reads: Requests<RowKey, string | undefined>

  constructor(client: PostgresClient, names: TableNames, { clock = systemClock }: StateOptions) {
    this.#adapter = adapterFor(client)
    this.#guard = new PostgresGuard(names)
    this.#table = new SqlNames(names).in(TABLE)
    const most = Math.max(1, Math.min(TRANSACTIONS, (this.#adapter.connections ?? Number.POSITIVE_INFINITY) - 1))
    const limits = {
      most,
      smallest: SMALLEST,
      largest: LARGEST,
      isOfOne: (error: unknown) => OF_ONE.test(sqlStateOf(error) ?? ''),
      pause: (repeats: number) => backoff(repeats, FIRST_PAUSE, LONGEST_PAUSE, systemRandom),
    }
    this.#fenced = new Requests(
      { ...limits, send: (all, call) => this.#sendFenced(all, call), subjectOf: ({ resource }) => resource },
      clock,
    )
    this.#reads = new Requests({ ...limits, send: (all, call) => this.#sendReads(all, call) }, clock)
  }

  /** The fence is committed before the row is read: a save under a smaller token is over by then, or fails. */
  async read(key: RowKey, token: bigint, call: StoreCall): Promise<string | undefined> {
    await this.#under(key, token, call)
    return await this.#reads.run(key, call)
  }

  async write(row: RowKey & { readonly text: string }, token: bigint, call: StoreCall): Promise<void> {
    await this.#under(row, token, call, row)
  }

  async #under(key: RowKey, token: bigint, call: StoreCall, row?: Fenced['row']): Promise<void> {
    const resource = resourceOf(key)
    await this.#guard.transact(resource, token, (fence) =>
      this.#fenced.run({ fence, resource, ...(row && { row }) }, call, row !== undefined && row.text.length > LARGE),
    )
  }

  async #sendFenced(operations: readonly Operation<Fenced, readonly unknown[]>[], call: StoreCall): Promise<void> {
    // Rows are locked in the same order everywhere: two transactions must not wait for each other.
    const sorted = operations.map(({ query }) => query).toSorted((a, b) => (a.resource < b.resource ? -1 : 1))
    const rows = sorted.flatMap(({ row }) => (row === undefined ? [] : [row]))
    // A message with several statements is one transaction.
    const statements = [...sorted.map(({ fence }) => fence), ...(rows.length === 0 ? [] : [this.#upsertOf(rows)])]
    if (await this.#isInConflict(operations, () => this.#adapter.run(statements.join(';\n'), call))) return
    for (const operation of operations) operation.resolve([{}])
  }

  async #sendReads(operations: readonly Operation<RowKey, string | undefined>[], call: StoreCall): Promise<void> {
    const keys = operations.map(({ query }) => `(${columnsOf(query)})`)
    const sql = `select json_build_array(region, id)::text as key, entity::text as entity from ${this.#table} where (region, id) in (${keys.join(', ')})`
    const found = new Map<string, string>()
    const read = async (): Promise<void> => {
      for (const row of (await this.#adapter.run(sql, call)) as readonly { key: string; entity: string }[]) {
        found.set(JSON.stringify(JSON.parse(row.key)), row.entity)
      }
    }
    if (await this.#isInConflict(operations, read)) return
    for (const operation of operations) {
      const { region, id } = operation.query
      operation.resolve(found.get(JSON.stringify([toColumn(region), toColumn(id)])))
    }
  }

  /** Runs a transaction. If it is in conflict with another one, its operations are repeated after a pause. */
  async #isInConflict(operations: readonly { repeat(): void }[], work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return false
    } catch (error) {
      if (!CONFLICTS.has(sqlStateOf(error))) throw error
      for (const operation of operations) operation.repeat()
      return true
    }
  }

  #upsertOf(rows: readonly NonNullable<Fenced['row']>[]): string {
    const values = rows.map((row) => `(${columnsOf(row)}, ${jsonTextLiteral(row.text)}::json)`)
    return `insert into ${this.#table} (region, id, entity) values ${values.join(', ')}
      on conflict (region, id) do update set entity = excluded.entity, saved_at = clock_timestamp()`
  }
}

function columnsOf({ region, id }: RowKey): string {
  return `${textLiteral(toColumn(region))}, ${textLiteral(toColumn(id))}`
}

/** The name of an entity among the resources of the guard. The quotes end the name of the region. */
function resourceOf({ region, id }: RowKey): string {
  return `entity ${JSON.stringify(region)} ${id}`
}

function postgresFailure(action: string, id: string, error: unknown): LeaseError {
  // The guard has an error of its own for tables that are missing.
  const state = sqlStateOf(error) ?? sqlStateOf(error instanceof LeaseError ? error.cause : undefined)
  if (state === '42P01' || state === '3F000' || state === '42883') {
    return new LeaseConfigurationError(
      `${action} failed: ${reasonOf(error)}: the tables are missing: call migrateEntities() of ` +
        '@leasehold/sharding/postgres once, and give it and postgresState the same schema and table',
      { leaseName: id, store: 'postgres', cause: error },
    )
  }
  return failureOf(action, id, error, RIGHTS)
}
