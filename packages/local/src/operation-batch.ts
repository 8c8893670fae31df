import { LeaseError, LeaseUnavailableError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { failureOf } from './failure-of.js'
import type { LeaseChange } from './lease-entry.js'
import type { Proposal } from './lease-operations.js'
import type { Attempt } from './register-log.js'

/** How often changes are tried in one turn of the event loop. */
const ROUNDS = 100

interface Operation {
  readonly call: StoreCall
  readonly propose: () => Settlement
  readonly reject: (error: unknown) => void
}

/** A proposal, and the function that reports its outcome. */
interface Settlement extends Proposal<unknown> {
  readonly settle: () => void
}

interface NamedChange extends Settlement {
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
  #isClosed = false

  /** `onFreed` is called with the names whose waiters must be notified. */
  constructor(log: OperationLog, onFreed: (names: ReadonlySet<string>) => void) {
    this.#log = log
    this.#onFreed = onFreed
  }

  add<T>(name: string, call: StoreCall, propose: () => Proposal<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(closedError())
      if (call.aborted) return reject(call.signal.reason)
      const proposing = (): Settlement => {
        const proposal = propose()
        return { ...proposal, settle: () => resolve(proposal.outcome) }
      }
      const operation = { call, reject, propose: proposing }
      const others = this.#waiting.get(name)
      if (others === undefined) this.#waiting.set(name, [operation])
      else others.push(operation)
      this.#schedule()
    })
  }

  /** Rejects all operations that wait, and all later ones. */
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
    // Other processes write so fast that our changes come too late: the event loop must go on in between.
    if (this.#waiting.size > 0) this.#schedule()
    const freed = this.#freed
    this.#freed = new Set()
    if (freed.size > 0) this.#onFreed(freed)
  }

  /** Decides the first operations of each name, and tries one change of each. */
  #round(): void {
    this.#log.refresh()
    const changes: NamedChange[] = []
    for (const [name, operations] of this.#waiting) {
      const change = this.#decide(name, operations)
      if (change !== undefined) changes.push(change)
      else this.#waiting.delete(name)
    }
    if (changes.length === 0) return
    const { accepted, failure } = this.#log.attempt(changes.map(({ name, change }) => ({ key: name, change })))
    for (const [index, { name, frees, settle }] of changes.entries()) {
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
  #decide(name: string, operations: readonly Operation[]): NamedChange | undefined {
    let done = 0
    try {
      for (const { call, reject, propose } of operations) {
        const settlement = call.aborted ? undefined : attempt(propose, reject)
        if (call.aborted) reject(call.signal.reason)
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

/** A decision that throws rejects its own operation, and no other. */
function attempt(propose: () => Settlement, reject: (error: unknown) => void): Settlement | undefined {
  try {
    return propose()
  } catch (error) {
    reject(error instanceof LeaseError ? error : failureOf(error, 'the folder'))
    return undefined
  }
}

function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the local store is closed: open a new one', { store: 'local' })
}
