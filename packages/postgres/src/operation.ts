import { AbortableCall } from '@leasehold/core/store'
import { failureOf } from './failure-of.js'

/** An operation is repeated after a pause: a row that it needs is locked by another transaction. */
export const LATER = Symbol('later')

/** One operation of `leases_run_1`. */
export interface Request<T> {
  /** For errors. */
  readonly operation: string
  readonly leaseName: string
  /** The name of the operation, and its arguments. */
  readonly call: readonly [string, ...unknown[]]
  /** Whether it has a statement of its own, because it takes longer than others. */
  readonly isLarge?: boolean
  /** `repeats`: how often it was repeated already. */
  readonly toOutcome: (answer: unknown, repeats: number) => T | typeof LATER
}

/** A request in the queue or on its way. It settles once. */
export class Operation<T = unknown> {
  readonly request: Request<T>
  /** Of its call, in milliseconds. */
  readonly timeout: number
  readonly #resolve: (outcome: T) => void
  readonly #reject: (error: unknown) => void
  isSettled = false
  /** Whether it has a statement of its own, after a statement with others has failed. */
  isAlone: boolean
  /** Whether it has a call of its own, which waits for locks, after a call for many has left it out. */
  waitsForLocks = false
  repeats = 0
  /** The statement that it is part of, while that is on its way. */
  statement: Statement | undefined
  removeListener: (() => void) | undefined

  constructor(request: Request<T>, timeout: number, resolve: (outcome: T) => void, reject: (error: unknown) => void) {
    this.request = request
    this.timeout = timeout
    this.isAlone = request.isLarge === true
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Returns whether the operation has to be repeated. */
  answer(answer: unknown): boolean {
    if (this.isSettled) return false
    try {
      const outcome = this.request.toOutcome(answer, this.repeats)
      if (outcome === LATER) return true
      this.#settle()
      this.#resolve(outcome)
    } catch (error) {
      this.fail(error)
    }
    return false
  }

  fail(error: unknown): void {
    if (!this.isSettled) this.abort(failureOf(this.request.operation, this.request.leaseName, error))
  }

  /** Rejects with the reason. */
  abort(reason: unknown): void {
    if (this.isSettled) return
    this.#settle()
    this.#reject(reason)
  }

  #settle(): void {
    this.isSettled = true
    this.removeListener?.()
  }
}

/** Operations that are sent together. */
export class Statement {
  /** Aborted when all of the operations are. */
  readonly call = new AbortableCall()
  readonly operations: readonly Operation[]
  #aborted = 0

  constructor(operations: readonly Operation[]) {
    this.operations = operations
  }

  /** One of the operations was aborted. The statement is abandoned with the last of them. */
  onAbort(reason: unknown): void {
    this.#aborted += 1
    if (this.#aborted === this.operations.length) this.call.abort(reason)
  }
}
