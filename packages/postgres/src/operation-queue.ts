import type { Clock } from '@leasehold/core'
import { AbortableCall, type StoreCall, untilAborted } from '@leasehold/core/store'
import { type Calls, callsOf, UNANSWERED } from './calls.js'
import type { ClientAdapter } from './client/connection.js'
import { closedError, failureOf, sqlStateOf } from './failure-of.js'
import { LATER, type Operation, type Request } from './operation.js'
import { jsonLiteral } from './sql-text.js'
import type { SqlNames } from './table-names.js'

/**
 * How many statements are on their way at most: a store takes no more connections of its user's pool, and leaves one for the
 * user if there are several.
 */
const STATEMENTS = 4

/** How many operations share a statement: few statements while few are wanted, and none that takes long. */
const SMALLEST = 32
const LARGEST = 64

/** How long operations that share a statement wait for a row that is locked, in milliseconds. */
const SHARED_PATIENCE = 200

/** By how much the server waits longer for a locked row than the client waits for the answer, in milliseconds. */
const AFTER_TIMEOUT = 500

/** The longest time limit of a server, in milliseconds. */
const LONGEST_PATIENCE = 2_147_483_647

/** The pauses before an operation is repeated, in milliseconds; half of each is random. */
const FIRST_PAUSE = 10
const LONGEST_PAUSE = 250

/** A conflict with another transaction: nothing was changed, and a repetition may succeed. */
const CONFLICTS = new Set(['40001', '40P01'])

/** Errors that may concern one operation of several: of its data, of its limits, or of a row that is locked. */
const OF_ONE = /^(22|40|54|55)/

/**
 * Sends the operations of a turn of the event loop together, in one statement for many leases. So a busy process takes few
 * connections, and few commits of the server.
 */
export class OperationQueue {
  readonly #adapter: ClientAdapter
  readonly #clock: Clock
  readonly #select: string
  readonly #most: number
  #pending: Operation[] = []
  #isScheduled = false
  /** The statements, each of which is abandoned when all of its operations are. */
  readonly #underWay = new Set<AbortableCall>()
  /** The operations that wait to be repeated, and how to cancel that. */
  readonly #later = new Map<Operation, () => void>()

  constructor(adapter: ClientAdapter, clock: Clock, names: SqlNames) {
    this.#adapter = adapter
    this.#clock = clock
    this.#most = Math.max(1, Math.min(STATEMENTS, (adapter.connections ?? Number.POSITIVE_INFINITY) - 1))
    this.#select = names.in('select "leasehold"."leases_run_1"')
  }

  /** Rejects at once with the reason of the abort, and with a `LeaseError` for failures of the server or the client. */
  run<T>(request: Request<T>, call: StoreCall): Promise<T> {
    const outcome = new Promise<T>((resolve, reject) => {
      const isAlone = request.isLarge === true
      const operation: Operation<T> = { request, call, resolve, reject, isAlone, waitsForLocks: false, repeats: 0 }
      this.#add(operation as Operation)
    })
    return untilAborted(outcome, call)
  }

  /** Rejects all operations, and abandons those under way. */
  close(): void {
    const error = closedError()
    for (const cancel of this.#later.values()) cancel()
    for (const { reject } of [...this.#pending.splice(0), ...this.#later.keys()]) reject(error)
    for (const statement of this.#underWay) statement.abort(error)
  }

  #add(operation: Operation): void {
    this.#pending.push(operation)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    this.#pending = this.#pending.filter(isOpen)
    while (this.#pending.length > 0 && this.#underWay.size < this.#most) {
      const free = this.#most - this.#underWay.size
      const share = Math.min(Math.max(Math.ceil(this.#pending.length / free), SMALLEST), LARGEST)
      this.#send(this.#take(share))
    }
  }

  /** The next operations; one that is alone comes alone. */
  #take(most: number): readonly Operation[] {
    const alone = this.#pending.findIndex(({ isAlone }) => isAlone)
    if (alone === 0) return this.#pending.splice(0, 1)
    return this.#pending.splice(0, alone < 0 ? most : Math.min(alone, most))
  }

  #send(operations: readonly Operation[]): void {
    // Rows are locked in the order of their names: two statements must not wait for each other.
    const sorted = operations.toSorted(byName)
    const statement = new AbortableCall()
    this.#underWay.add(statement)
    const removers = sorted.map(({ call }) =>
      call.onAbort(() => {
        if (!sorted.some(isOpen)) statement.abort(call.signal.reason)
      }),
    )
    const timeout = Math.max(...sorted.map(({ call }) => call.timeout))
    const alone = Math.min(Math.ceil(timeout) + AFTER_TIMEOUT, LONGEST_PATIENCE)
    const patience = sorted.length > 1 ? SHARED_PATIENCE : alone
    const calls = callsOf(sorted)
    this.#adapter
      .run(`${this.#select}(${jsonLiteral(calls.list)}, ${patience}) as answers`, statement)
      .then((rows) => this.#onAnswers(sorted, calls, rows))
      .catch((error: unknown) => this.#onFailure(sorted, error))
      .finally(() => {
        for (const remove of removers) remove()
        this.#underWay.delete(statement)
        this.#flush()
      })
  }

  #onAnswers(operations: readonly Operation[], calls: Calls, rows: readonly unknown[]): void {
    const [text] = Object.values(rows[0] as object)
    const answers = calls.answersIn(JSON.parse(String(text)) as readonly unknown[])
    for (const [place, operation] of operations.entries()) {
      if (!isOpen(operation)) continue
      if (answers[place] !== UNANSWERED) this.#onAnswer(operation, answers[place])
      else {
        operation.waitsForLocks = true
        this.#add(operation)
      }
    }
  }

  #onAnswer(operation: Operation, answer: unknown): void {
    try {
      const outcome = operation.request.toOutcome(answer, operation.repeats)
      if (outcome === LATER) this.#repeat(operation)
      else operation.resolve(outcome)
    } catch (error) {
      fail(operation, error)
    }
  }

  #onFailure(operations: readonly Operation[], error: unknown): void {
    const state = sqlStateOf(error) ?? ''
    const isRepeated = CONFLICTS.has(state) || (operations.length > 1 && OF_ONE.test(state))
    for (const operation of operations.filter(isOpen)) {
      if (isRepeated) this.#repeat(operation)
      else fail(operation, error)
    }
  }

  /** Repeats an operation that has changed nothing, by itself and after a pause. */
  #repeat(operation: Operation): void {
    const pause = Math.min(FIRST_PAUSE * 2 ** Math.min(operation.repeats, 16), LONGEST_PAUSE)
    operation.isAlone = true
    operation.repeats += 1
    const cancel = this.#clock.schedule(pause * (0.5 + 0.5 * Math.random()), () => {
      this.#later.delete(operation)
      this.#add(operation)
    })
    this.#later.set(operation, cancel)
  }
}

function isOpen({ call }: Operation): boolean {
  return !call.aborted
}

function fail({ request, reject }: Operation, error: unknown): void {
  const { operation, leaseName } = request
  reject(failureOf(`${operation} of lease '${leaseName}'`, leaseName, error))
}

function byName({ request: a }: Operation, { request: b }: Operation): number {
  return a.leaseName < b.leaseName ? -1 : Number(a.leaseName > b.leaseName)
}
