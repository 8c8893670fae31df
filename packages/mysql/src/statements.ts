import { type Clock, LeaseConfigurationError } from '@leasehold/core'
import { conflictPause, mostStatements } from '@leasehold/core/sql-kit'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { closedError, type Operation, Requests } from '@leasehold/core/store-kit'
import type { Answer } from './client/answer.js'
import type { ClientAdapter } from './client/client-adapter.js'
import { errorNumberOf, failureOf, isConflict, NO_TABLE } from './failure-of.js'
import { createTables, migrationsOf } from './migrate.js'
import type { SqlNames } from './table-names.js'

/** How long the creation of the tables may take, in milliseconds. */
const CREATION_TIMEOUT = 30_000

/** How often a statement is repeated after a conflict, beside the time of its call. */
const REPEATS = 10

/** Sends statements over a few connections. Repeats those of which a conflict left nothing. */
export class Statements {
  readonly #adapter: ClientAdapter
  readonly #names: SqlNames
  readonly #requests: Requests<string, Answer>
  #creating: Promise<void> | undefined

  constructor(adapter: ClientAdapter, clock: Clock, random: () => number, names: SqlNames) {
    this.#adapter = adapter
    this.#names = names
    this.#requests = new Requests(
      {
        most: mostStatements(adapter.connections),
        smallest: 1,
        largest: 1,
        send: (operations, call) => this.#send(operations, call),
        isOfOne: () => false,
        pause: (repeats) => conflictPause(repeats, random),
      },
      clock,
    )
  }

  /** Rejects at once with the reason of the abort, and else with the error of the client. */
  run(sql: string, call: StoreCall): Promise<Answer> {
    return this.#requests.run(sql, call)
  }

  /** Rejects all operations, and abandons those under way. */
  close(): void {
    this.#requests.close(closedError('mysql'))
  }

  async #send(operations: readonly Operation<string, Answer>[], call: StoreCall): Promise<void> {
    for (const operation of operations) {
      try {
        operation.resolve(await this.#adapter.run(operation.query, call))
      } catch (error) {
        if (errorNumberOf(error) === NO_TABLE && operation.repeats === 0) await this.#create(error)
        else if (!isConflict(error) || operation.repeats >= REPEATS) throw error
        operation.repeat()
      }
    }
  }

  /** Creates the tables where the user may. The statement would end an open transaction of a connection. */
  async #create(missing: unknown): Promise<void> {
    const { isPool } = this.#adapter
    try {
      if (!isPool) throw new LeaseConfigurationError('this client is one connection', { store: 'mysql' })
      this.#creating ??= createTables(this.#adapter, this.#names, new AbortableCall(CREATION_TIMEOUT)).finally(() => {
        this.#creating = undefined
      })
      await this.#creating
    } catch (error) {
      const why = isPool ? (error as Error).message : 'a store over a single connection creates none'
      const statements = migrationsOf(this.#names).map(({ sql }) => `${sql};`)
      throw new LeaseConfigurationError(
        `${failureOf('the first operation', '', missing).message}. The tables could not be created (${why}). Let a user who ` +
          `may create tables run these statements:\n\n${statements.join('\n\n')}`,
        { store: 'mysql', cause: error },
      )
    }
  }
}
