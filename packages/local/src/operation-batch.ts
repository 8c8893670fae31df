import { LeaseError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { closedError } from '@leasehold/core/store-kit'
import { failureOf } from './failure-of.js'
import type { LeaseChange, LeaseEntry } from './lease-entry.js'
import type { Proposal } from './lease-operations.js'
import type { RegisterLog } from './register-log.js'

/** How often changes are tried in one turn of the event loop. */
const ROUNDS = 100

interface Operation {
  readonly call: StoreCall
  readonly propose: () => Proposal<unknown>
  readonly resolve: (outcome: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A proposal that changes the log. */
interface NamedProposal extends Proposal<unknown> {
  readonly key: string
  readonly change: LeaseChange
  readonly operation: Operation
}

/** The log that the operations read and change. */
export type OperationLog = Pick<RegisterLog<LeaseEntry, LeaseChange>, 'refresh' | 'attempt'>

/**
 * Runs the operations of one turn of the event loop together: those on different names are written by one system call,
 * those on one name one after the other. An operation whose name was changed by another process decides again. Between
 * the decision and the outcome nothing else in this thread can run. So an operation that is aborted before its decision
 * has certainly done nothing, and an operation needs no listener.
 */
export class OperationBatch {
  readonly #log: OperationLog
  readonly #onFreed: (names: ReadonlySet<string>) => void
  /** The operations on each name, in the order in which they came. */
  readonly #waiting = new Map<string, Operation[]>()
  #freed = new Set<string>()
  #isScheduled = false

  /** `onFreed` is called with the names whose waiters must be notified. */
  constructor(log: OperationLog, onFreed: (names: ReadonlySet<string>) => void) {
    this.#log = log
    this.#onFreed = onFreed
  }

  /** The caller has checked that the store is open, and the call not aborted. */
  add<T>(name: string, call: StoreCall, propose: () => Proposal<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const operations = this.#waiting.get(name) ?? []
      operations.push({ call, propose, resolve: resolve as Operation['resolve'], reject })
      this.#waiting.set(name, operations)
      this.#schedule()
    })
  }

  /** Rejects all operations that wait. */
  close(): void {
    this.#rejectAll(closedError('local'))
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    try {
      for (let round = 0; round < ROUNDS && this.#waiting.size > 0; round += 1) this.#round()
    } catch (error) {
      this.#rejectAll(error)
    }
    // Other processes write so fast that our changes come too late: the event loop must go on in between.
    if (this.#waiting.size > 0) this.#schedule()
    const freed = this.#freed
    this.#freed = new Set()
    if (freed.size > 0) this.#onFreed(freed)
  }

  /** Decides the first operations of each name, and tries one change of each. */
  #round(): void {
    this.#log.refresh()
    const proposals = [...this.#waiting].flatMap(([name, operations]) => this.#decide(name, operations))
    if (proposals.length === 0) return
    const { accepted, failure } = this.#log.attempt(proposals)
    for (const [index, { key, operation, frees, outcome }] of proposals.entries()) {
      if (accepted[index] !== true && failure === undefined) continue
      this.#removeFirst(key)
      if (accepted[index] !== true) operation.reject(failure)
      else {
        if (frees === true) this.#freed.add(key)
        operation.resolve(outcome)
      }
    }
  }

  /** Settles operations up to the first that changes something, and returns that change. */
  #decide(name: string, operations: Operation[]): readonly NamedProposal[] {
    for (const [index, operation] of operations.entries()) {
      const { call, propose, resolve, reject } = operation
      try {
        if (call.aborted) {
          reject(call.signal.reason)
          continue
        }
        const { outcome, change, frees } = propose()
        if (change !== undefined) {
          operations.splice(0, index)
          return [{ key: name, operation, outcome, change, frees }]
        }
        if (frees === true) this.#freed.add(name)
        resolve(outcome)
      } catch (error) {
        // A decision that throws rejects its own operation, and no other.
        reject(error instanceof LeaseError ? error : failureOf(error, 'the folder'))
      }
    }
    this.#waiting.delete(name)
    return []
  }

  #removeFirst(name: string): void {
    const operations = this.#waiting.get(name)
    operations?.shift()
    if (operations?.length === 0) this.#waiting.delete(name)
  }

  #rejectAll(error: unknown): void {
    const waiting = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    for (const { reject } of waiting) reject(error)
  }
}
