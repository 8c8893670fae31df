import type { Clock } from '@leasehold/core'
import { conflictPause, mostStatements } from '@leasehold/core/sql-kit'
import type { StoreCall } from '@leasehold/core/store'
import { closedError, listingText, Requests } from '@leasehold/core/store-kit'
import { callsOf, UNANSWERED } from './calls.js'
import type { ClientAdapter } from './client/connection.js'
import { failureOf, sqlStateOf } from './failure-of.js'
import type { Operation, Query } from './operation.js'
import { jsonLiteral } from './sql-text.js'
import type { SqlNames } from './table-names.js'

/** The smallest and the largest number of operations in a statement. If fewer wait, it has all of them. */
const SMALLEST = 32
const LARGEST = 64

/** How long operations that share a statement wait for a row that is locked, in milliseconds. */
const SHARED_PATIENCE = 200

/** The server waits for a locked row by this time longer than the client waits for the answer, in milliseconds. */
const AFTER_TIMEOUT = 500

/** The longest time limit of a server, in milliseconds. */
const LONGEST_PATIENCE = 2_147_483_647

/** A conflict with another transaction: nothing was changed, and a repetition may succeed. */
const CONFLICTS = new Set(['40001', '40P01'])

/** Errors that may concern one operation of several: of its data, of its limits, or of a row that is locked. */
const OF_ONE = /^(22|40|54|55)/

/**
 * Sends operations in statements for many leases. So a busy process takes few connections, and few commits of the server.
 */
export class OperationQueue {
  readonly #adapter: ClientAdapter
  readonly #select: string
  readonly #requests: Requests<Query, unknown>

  constructor(adapter: ClientAdapter, clock: Clock, random: () => number, names: SqlNames) {
    this.#adapter = adapter
    this.#select = names.in('select "leasehold"."leases_run_1"')
    this.#requests = new Requests(
      {
        most: mostStatements(adapter.connections),
        smallest: SMALLEST,
        largest: LARGEST,
        send: (operations, call) => this.#send(operations, call),
        isOfOne: (error) => OF_ONE.test(sqlStateOf(error) ?? ''),
        pause: (repeats) => conflictPause(repeats, random),
      },
      clock,
    )
  }

  /**
   * Rejects at once with the reason of the abort, and with a `LeaseError` for failures of the server or the client. `isLarge`:
   * the operation takes longer than others, and has a statement of its own.
   */
  async run<T>(query: Query, toOutcome: (answer: unknown) => T, call: StoreCall, isLarge = false): Promise<T> {
    try {
      return toOutcome(await this.#requests.run(query, call, isLarge))
    } catch (error) {
      const { operation, leaseName } = query
      if (call.aborted) throw error
      // A listing has a prefix where other operations have the name of a lease.
      if (operation === 'list') throw failureOf(listingText(leaseName), '', error)
      throw failureOf(`${operation} of lease '${leaseName}'`, leaseName, error)
    }
  }

  /** Rejects all operations, and abandons those under way. */
  close(): void {
    this.#requests.close(closedError('postgres'))
  }

  async #send(operations: readonly Operation[], call: StoreCall): Promise<void> {
    // Rows are locked in the order of their names: two statements must not wait for each other.
    const sorted = operations.toSorted(({ query: a }, { query: b }) =>
      a.leaseName < b.leaseName ? -1 : Number(a.leaseName > b.leaseName),
    )
    const alone = Math.min(Math.ceil(call.timeout) + AFTER_TIMEOUT, LONGEST_PATIENCE)
    const patience = sorted.length > 1 ? SHARED_PATIENCE : alone
    const calls = callsOf(sorted)
    let rows: readonly unknown[]
    try {
      rows = await this.#adapter.run(`${this.#select}(${jsonLiteral(calls.list)}, ${patience}) as answers`, call)
    } catch (error) {
      if (!CONFLICTS.has(sqlStateOf(error) ?? '')) throw error
      for (const operation of sorted) operation.repeat()
      return
    }
    const [text] = Object.values(rows[0] as object)
    const answers = calls.answersIn(JSON.parse(String(text)) as readonly unknown[])
    for (const [place, operation] of sorted.entries()) onAnswer(operation, answers[place])
  }
}

function onAnswer(operation: Operation, answer: unknown): void {
  const { query, repeats } = operation
  if (answer === UNANSWERED) {
    query.waitsForLocks = true
    operation.sendAgain()
  } else if (query.isRepeated?.(answer, repeats) === true) operation.repeat()
  else operation.resolve(answer)
}
