import { LeaseError, LeaseUnavailableError } from '@leasehold/core'
import { failureOf } from './failure-of.js'
import type { Decision } from './lease-cycle.js'
import type { LeaseChange } from './lease-entry.js'
import type { Attempt } from './register-log.js'

/** How often changes are tried in one turn of the event loop. */
const ROUNDS = 100

interface Operation {
  readonly signal: AbortSignal
  readonly decide: () => Settlement
  readonly reject: (error: unknown) => void
}

/** A decision, and the call that reports its outcome. */
interface Settlement extends Decision<unknown> {
  readonly settle: () => void
}

interface Proposal extends Settlement {
  readonly name: string
  readonly change: LeaseChange
}

/** The log that the operations read and change. */
export interface OperationLog {
  readonly refresh: () => void
  readonly attempt: (changes: readonly { readonly key: string; readonly change: LeaseChange }[]) => Attempt
}

/**
 * Runs the operations of one turn of the event loop together: those on different names are written by one system call,
 * those on one name one behind the other. An operation whose name was changed by another process decides again. Between
 * its decision and its outcome nothing else in this thread can run, so an operation that is aborted before its decision
 * certainly did nothing, and no listener is needed.
 */
export class OperationBatch {
  readonly #log: OperationLog
  readonly #onFreed: (names: ReadonlySet<string>) => void
  /** The operations on each name, in the order in which they came. */
  readonly #waiting = new Map<string, Operation[]>()
  #freed = new Set<string>()
  #isScheduled = false
  #isClosed = false

  /** `onFreed` is called with the names whose waiters are to be woken. */
  constructor(log: OperationLog, onFreed: (names: ReadonlySet<string>) => void) {
    this.#log = log
    this.#onFreed = onFreed
  }

  add<T>(name: string, signal: AbortSignal, decide: () => Decision<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(closedError())
      if (signal.aborted) return reject(signal.reason)
      const deciding = (): Settlement => {
        const decision = decide()
        return { ...decision, settle: () => resolve(decision.outcome) }
      }
      const operation = { signal, reject, decide: deciding }
      const others = this.#waiting.get(name)
      if (others === undefined) this.#waiting.set(name, [operation])
      else others.push(operation)
      this.#schedule()
    })
  }

  /** Rejects what is waiting and all that comes. */
  close(): void {
    this.#isClosed = true
    this.#rejectAll(closedError())
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
    // Other processes write so fast that ours come too late: the event loop goes on in between.
    if (this.#waiting.size > 0) this.#schedule()
    const freed = this.#freed
    this.#freed = new Set()
    if (freed.size > 0) this.#onFreed(freed)
  }

  /** Decides the first operations of each name, and tries one change of each. */
  #round(): void {
    this.#log.refresh()
    const proposals: Proposal[] = []
    for (const [name, operations] of this.#waiting) {
      const proposal = this.#decide(name, operations)
      if (proposal !== undefined) proposals.push(proposal)
      else this.#waiting.delete(name)
    }
    if (proposals.length === 0) return
    const { accepted, failure } = this.#log.attempt(proposals.map(({ name, change }) => ({ key: name, change })))
    for (const [index, { name, frees, settle }] of proposals.entries()) {
      if (accepted[index] !== true && failure === undefined) continue
      const operation = this.#takeFirst(name)
      if (accepted[index] !== true) operation?.reject(failure)
      else {
        if (frees === true) this.#freed.add(name)
        settle()
      }
    }
  }

  /** Settles operations up to the first that changes something, and returns that change. */
  #decide(name: string, operations: readonly Operation[]): Proposal | undefined {
    let done = 0
    try {
      for (const { signal, reject, decide } of operations) {
        const settlement = signal.aborted ? undefined : attempt(decide, reject)
        if (signal.aborted) reject(signal.reason)
        if (settlement?.change !== undefined) return { ...settlement, name, change: settlement.change }
        if (settlement?.frees === true) this.#freed.add(name)
        settlement?.settle()
        done += 1
      }
      return undefined
    } finally {
      if (done > 0) this.#waiting.set(name, operations.slice(done))
    }
  }

  #takeFirst(name: string): Operation | undefined {
    const operations = this.#waiting.get(name) ?? []
    const first = operations.shift()
    if (operations.length === 0) this.#waiting.delete(name)
    return first
  }

  #rejectAll(error: unknown): void {
    const waiting = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    for (const { reject } of waiting) reject(error)
  }
}

/** A decision that fails is its own operation's alone. */
function attempt(decide: () => Settlement, reject: (error: unknown) => void): Settlement | undefined {
  try {
    return decide()
  } catch (error) {
    reject(error instanceof LeaseError ? error : failureOf(error, 'the folder'))
    return undefined
  }
}

export function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the store is closed', { store: 'local' })
}
