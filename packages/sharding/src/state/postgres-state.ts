import { LeaseConfigurationError, LeaseError, LeaseUnavailableError, systemClock } from '@leasehold/core'
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
    return this.#rows.write({ region: this.#region, id }, text, token, call)
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

/** A load or a save, with the statement of the guard that comes before it. */
interface Access {
  readonly fence: string
  readonly resource: string
  readonly key: RowKey
  /** What is saved; `undefined` for a load. */
  readonly text: string | undefined
}

/** The rows of entities. Requests that come at the same time share transactions. */
class EntityRows {
  readonly #adapter: ClientAdapter
  readonly #guard: PostgresGuard
  readonly #table: string
  readonly #requests: Requests<Access, string | undefined>

  constructor(client: PostgresClient, names: TableNames, { clock = systemClock }: StateOptions) {
    this.#adapter = adapterFor(client)
    this.#guard = new PostgresGuard(names)
    this.#table = new SqlNames(names).in(TABLE)
    const { connections = Number.POSITIVE_INFINITY } = this.#adapter
    this.#requests = new Requests(
      {
        most: Math.max(1, Math.min(TRANSACTIONS, connections - 1)),
        smallest: SMALLEST,
        largest: LARGEST,
        send: (operations, call) => this.#send(operations, call),
        isOfOne: (error) => OF_ONE.test(sqlStateOf(error) ?? ''),
        pause: (repeats) => backoff(repeats, FIRST_PAUSE, LONGEST_PAUSE, systemRandom),
        subjectOf: ({ resource }) => resource,
      },
      clock,
    )
  }

  async read(key: RowKey, token: bigint, call: StoreCall): Promise<string | undefined> {
    return await this.#access(key, token, undefined, call)
  }

  async write(key: RowKey, text: string, token: bigint, call: StoreCall): Promise<void> {
    await this.#access(key, token, text, call)
  }

  async #access(key: RowKey, token: bigint, text: string | undefined, call: StoreCall): Promise<string | undefined> {
    const resource = resourceOf(key)
    let found: string | undefined
    await this.#guard.transact(resource, token, async (fence) => {
      found = await this.#requests.run({ fence, resource, key, text }, call, (text?.length ?? 0) > LARGE)
      return [{}]
    })
    return found
  }

  async #send(operations: readonly Operation<Access, string | undefined>[], call: StoreCall): Promise<void> {
    // Rows are locked in the same order everywhere: two transactions must not wait for each other.
    const sorted = operations.map(({ query }) => query).toSorted((a, b) => (a.resource < b.resource ? -1 : 1))
    let found: ReadonlyMap<string, string>
    try {
      // A message with several statements is one transaction.
      await this.#adapter.run([...sorted.map(({ fence }) => fence), ...this.#upsertOf(sorted)].join(';\n'), call)
      for (const operation of operations) if (operation.query.text !== undefined) operation.resolve(undefined)
      // The fences are committed: a save under a smaller token is over by now, or fails.
      found = await this.#read(sorted, call)
    } catch (error) {
      if (!CONFLICTS.has(sqlStateOf(error))) throw error
      for (const operation of operations) operation.repeat()
      return
    }
    for (const operation of operations) operation.resolve(found.get(operation.query.resource))
  }

  /** The statement that writes what is saved; empty if nothing is. */
  #upsertOf(all: readonly Access[]): readonly string[] {
    const rows = all.flatMap(({ key, text }) =>
      text === undefined ? [] : [`(${columnsOf(key)}, ${jsonTextLiteral(text)}::json)`],
    )
    if (rows.length === 0) return []
    const values = rows.join(', ')
    return [
      `insert into ${this.#table} (region, id, entity) values ${values}
        on conflict (region, id) do update set entity = excluded.entity, saved_at = clock_timestamp()`,
    ]
  }

  /** The texts of the entities that are loaded, by the names of their fences. */
  async #read(all: readonly Access[], call: StoreCall): Promise<ReadonlyMap<string, string>> {
    const loads = all.filter(({ text }) => text === undefined)
    if (loads.length === 0) return new Map()
    const values = loads.map(({ key }, place) => `(${place}, ${columnsOf(key)})`)
    const rows = await this.#adapter.run(
      `select l.place, e.entity::text as entity from (values ${values.join(', ')}) l (place, region, id)
        join ${this.#table} e on e.region = l.region and e.id = l.id`,
      call,
    )
    const texts = (rows as readonly { readonly place: number; readonly entity: string }[]).map(
      ({ place, entity }) => [(loads[place] as Access).resource, entity] as const,
    )
    return new Map(texts)
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
  // The guard has an error of its own for tables that are missing, which names another migration.
  const origin = error instanceof LeaseError && sqlStateOf(error.cause) !== undefined ? error.cause : error
  const state = sqlStateOf(origin)
  const details = { leaseName: id, store: 'postgres', cause: origin }
  if (state === '42P01' || state === '3F000' || state === '42883') {
    const help =
      'the tables are missing: call migrateEntities() of @leasehold/sharding/postgres once, and give it and postgresState the ' +
      'same schema and table'
    return new LeaseConfigurationError(`${action} failed: ${reasonOf(origin)}: ${help}`, details)
  }
  if (state === undefined && !(origin instanceof LeaseError)) {
    const help = 'check that the server runs and can be reached'
    return new LeaseUnavailableError(`${action} failed: ${reasonOf(origin)}: ${help}`, details)
  }
  return failureOf(action, id, origin, RIGHTS)
}
