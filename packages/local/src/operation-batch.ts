import { LeaseError, LeaseUnavailableError } from '@leasehold/core'

interface Operation {
  readonly signal: AbortSignal
  /** Runs in the transaction, and tells the outcome once it is committed. */
  readonly run: () => () => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs the operations of one turn of the event loop in one transaction: a transaction costs as much as several
 * operations, and a batch in the same thread is faster, for one operation and for many, than lmdb's own thread
 * (bench/cycles.ts). The operations are done before anything else in this process can run, so that an abort comes before
 * an operation, and it then certainly did nothing, or after its end: no listener is needed.
 */
export class OperationBatch {
  readonly #transact: (work: () => void) => void
  readonly #committed: () => void
  #waiting: Operation[] = []
  #closed = false

  /** `committed` is called after each commit. */
  constructor(transact: (work: () => void) => void, committed: () => void) {
    this.#transact = transact
    this.#committed = committed
  }

  add<T>(signal: AbortSignal, operation: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(closedError())
      if (signal.aborted) return reject(signal.reason)
      this.#waiting.push({ signal, reject, run: () => outcomeOf(operation, resolve, reject) })
      if (this.#waiting.length === 1) setImmediate(() => this.#flush())
    })
  }

  /** Rejects what is waiting and all that comes. */
  close(): void {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(closedError())
  }

  #flush(): void {
    const batch = this.#waiting
    this.#waiting = []
    const due: Operation[] = []
    for (const operation of batch) {
      if (operation.signal.aborted) operation.reject(operation.signal.reason)
      else due.push(operation)
    }
    if (due.length === 0) return
    try {
      let settlements: (() => void)[] = []
      this.#transact(() => {
        settlements = due.map(({ run }) => run())
      })
      for (const settle of settlements) settle()
    } catch (error) {
      for (const { reject } of due) reject(error)
      return
    }
    this.#committed()
  }
}

/** A refusal is one operation's own; any other failure undoes the transaction. */
function outcomeOf<T>(operation: () => T, resolve: (outcome: T) => void, reject: (error: unknown) => void): () => void {
  try {
    const outcome = operation()
    return () => resolve(outcome)
  } catch (error) {
    if (!(error instanceof LeaseError)) throw error
    return () => reject(error)
  }
}

export function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the store is closed', { store: 'local' })
}
