import { AbortableCall, type StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'

export interface RequestTransport<Q, A> {
  /**
   * How many requests are under way at most. The engine delays the claims of waiters (`Admission`), but no first claim. A
   * heartbeat beside 20,000 first claims on Redis took up to 0.25 s, and up to 2.6 s without this bound, because all claims
   * were sent before it.
   */
  readonly most: number
  /** The operations that wait are divided among the requests that may go, but not into smaller parts than this. */
  readonly smallest: number
  /** How many operations share a request at most. */
  readonly largest: number
  /**
   * Sends a request, and settles its operations. If it rejects, the error is that of each operation that is still open.
   * `call` is aborted when no caller waits any more: the request then counts no longer.
   */
  readonly send: (operations: readonly Operation<Q, A>[], call: StoreCall) => Promise<void>
  /** Whether an error of a shared request may come from one operation, while nothing was done for the others. */
  readonly isOfOne: (error: unknown) => boolean
  /** The pause before an operation is repeated, in milliseconds; none unless given. */
  readonly pause?: (repeats: number) => number
  /** Operations with the same subject never share a request, and are sent in the order in which they came. */
  readonly subjectOf?: (query: Q) => unknown
  /** Divides operations that must not share a request. The parts are sent at the same time. */
  readonly divide?: (operations: readonly Operation<Q, A>[]) => Iterable<readonly Operation<Q, A>[]>
  /** After how many milliseconds a request without an answer does not count any more: it may hang. Never unless given. */
  readonly stalled?: number
}

const UNSETTLED = new Error('the store has not settled the operation')

/** An operation that waits or is under way. `Q`: what it asks for, `A`: its answer. It settles once. */
export class Operation<Q, A> {
  readonly query: Q
  readonly call: StoreCall
  readonly #onAnswer: (answer: A) => void
  readonly #onError: (error: unknown) => void
  #removeListener: (() => void) | undefined
  #isOpen = true
  /** @internal */
  isAlone: boolean
  /** How often it was repeated. */
  repeats = 0
  /** @internal The request that it is part of. */
  request: Request<Q, A> | undefined
  /** @internal How the operation goes on when its request has ended. */
  next: 'fail' | 'again' | 'alone' = 'fail'

  constructor(
    query: Q,
    call: StoreCall,
    isAlone: boolean,
    onAnswer: (answer: A) => void,
    onError: (error: unknown) => void,
  ) {
    this.query = query
    this.call = call
    this.isAlone = isAlone
    this.#onAnswer = onAnswer
    this.#onError = onError
    this.#removeListener = call.onAbort(() => this.#onAbort())
  }

  /** Whether its caller still waits: it is neither settled nor aborted. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Has no effect if the operation is settled. */
  resolve(answer: A): void {
    if (this.#settle()) this.#onAnswer(answer)
  }

  /** Has no effect if the operation is settled. */
  reject(error: unknown): void {
    if (this.#settle()) this.#onError(error)
  }

  /** For an operation of which nothing was done: when its request has ended, it waits again, behind the others. */
  sendAgain(): void {
    this.next = 'again'
  }

  /** For an operation of which nothing was done: when its request has ended, it is repeated alone, after a pause. */
  repeat(): void {
    this.next = 'alone'
  }

  #onAbort(): void {
    const { reason } = this.call.signal
    const { request } = this
    this.reject(reason)
    if (request?.operations.some(isOpen) === false) request.abandon(reason)
  }

  #settle(): boolean {
    if (!this.#isOpen) return false
    this.#isOpen = false
    this.#removeListener?.()
    this.request = undefined
    return true
  }
}

/** Operations that are sent together. */
class Request<Q, A> {
  readonly operations: readonly Operation<Q, A>[]
  readonly call: AbortableCall
  readonly #onEnd: (request: Request<Q, A>) => void

  constructor(operations: readonly Operation<Q, A>[], onEnd: (request: Request<Q, A>) => void) {
    this.operations = operations
    this.#onEnd = onEnd
    this.call = new AbortableCall(longestOf(operations))
    for (const operation of operations) operation.request = this
  }

  /** Gives up a request that no caller waits for. Others may go, even if the server does not end this one. */
  abandon(reason: unknown): void {
    this.call.abort(reason)
    this.#onEnd(this)
  }
}

/**
 * Sends the operations of a store in few requests. Operations of one turn of the event loop share requests. While the most
 * requests are under way, further operations wait, and then go together. An operation that is aborted before it is sent is
 * never sent. Operations that were refused together are repeated alone, so that one does not fail the others.
 */
export class Requests<Q, A> {
  readonly #options: RequestTransport<Q, A>
  readonly #clock: Clock
  /** In the order in which they came. Some may have been aborted. */
  readonly #waiting: Operation<Q, A>[] = []
  /** The operations to repeat after a pause, and how to cancel that. */
  readonly #paused = new Map<Operation<Q, A>, () => void>()
  /**
   * Not a `Set`: while elements come and go, V8 replaces the table of a set again and again, and each table points to the next.
   * Once one of them is old, the collection of young objects keeps all later ones, with the ended requests in them. With 64
   * operations in flight, that took a fifth of the processor time.
   */
  readonly #underWay: Request<Q, A>[] = []
  readonly #end = (request: Request<Q, A>): void => {
    const place = this.#underWay.indexOf(request)
    if (place >= 0) this.#underWay.splice(place, 1)
    this.#schedule()
  }
  #isScheduled = false

  constructor(options: RequestTransport<Q, A>, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  /** Sends an operation. Rejects with the reason as soon as the call is aborted. `isAlone`: it shares no request. */
  run(query: Q, call: StoreCall, isAlone = false): Promise<A> {
    return new Promise((resolve, reject) => {
      const operation = new Operation<Q, A>(query, call, isAlone, resolve, reject)
      if (operation.isOpen) this.#add(operation)
    })
  }

  /** Sends an operation in a request of its own at once: it passes those that wait, and does not count towards `most`. */
  runAtOnce(query: Q, call: StoreCall): Promise<A> {
    return new Promise((resolve, reject) => {
      const operation = new Operation<Q, A>(query, call, true, resolve, reject)
      if (operation.isOpen) void this.#exchange([operation], false)
    })
  }

  /** Rejects the operations that wait or are under way, and aborts their requests. */
  close(error: Error): void {
    for (const cancel of this.#paused.values()) cancel()
    for (const operation of [...this.#waiting, ...this.#paused.keys()]) operation.reject(error)
    for (const request of [...this.#underWay]) {
      for (const operation of request.operations) operation.reject(error)
      request.abandon(error)
    }
  }

  #add(operation: Operation<Q, A>): void {
    this.#waiting.push(operation)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    const { most, smallest, largest, divide } = this.#options
    while (this.#waiting.length > 0 && this.#underWay.length < most) {
      const share = Math.ceil(this.#waiting.length / (most - this.#underWay.length))
      const taken = this.#take(Math.min(Math.max(share, smallest), largest))
      for (const part of divide?.(taken) ?? [taken]) if (part.length > 0) void this.#exchange(part, true)
    }
  }

  /** The next open operations, up to the first one that goes alone. */
  #take(most: number): readonly Operation<Q, A>[] {
    const taken: Operation<Q, A>[] = []
    const passed: Operation<Q, A>[] = []
    const { subjectOf } = this.#options
    const subjects = subjectOf === undefined ? undefined : new Set()
    let next = 0
    for (const operation of this.#waiting) {
      if (taken.length === most || taken[0]?.isAlone) break
      if (operation.isOpen) {
        if (operation.isAlone && taken.length > 0) break
        const subject = subjectOf?.(operation.query)
        const isPassed = subjects?.has(subject) === true
        if (isPassed) passed.push(operation)
        else taken.push(operation)
        subjects?.add(subject)
      }
      next += 1
    }
    this.#waiting.splice(0, next, ...passed)
    return taken
  }

  async #exchange(operations: readonly Operation<Q, A>[], isCounted: boolean): Promise<void> {
    const { send, stalled } = this.#options
    const request = new Request(operations, this.#end)
    if (isCounted) this.#underWay.push(request)
    const cancel = stalled === undefined ? undefined : this.#clock.schedule(stalled, () => this.#end(request))
    let failure: unknown = UNSETTLED
    try {
      await send(operations, request.call)
    } catch (error) {
      failure = error
    }
    cancel?.()
    for (const operation of operations) if (operation.isOpen) this.#onEnd(operation, failure, operations.length > 1)
    this.#end(request)
  }

  #onEnd(operation: Operation<Q, A>, failure: unknown, isShared: boolean): void {
    const { next } = operation
    operation.request = undefined
    operation.next = 'fail'
    if (next === 'again') this.#add(operation)
    else if (next === 'alone' || (isShared && this.#options.isOfOne(failure))) this.#repeat(operation)
    else operation.reject(failure)
  }

  #repeat(operation: Operation<Q, A>): void {
    const pause = this.#options.pause?.(operation.repeats)
    operation.isAlone = true
    operation.repeats += 1
    if (pause === undefined) {
      this.#add(operation)
      return
    }
    const cancel = this.#clock.schedule(pause, () => {
      this.#paused.delete(operation)
      this.#add(operation)
    })
    this.#paused.set(operation, cancel)
  }
}

function isOpen<Q, A>(operation: Operation<Q, A>): boolean {
  return operation.isOpen
}

function longestOf<Q, A>(operations: readonly Operation<Q, A>[]): number {
  return operations.reduce((longest, { call }) => Math.max(longest, call.timeout), 0)
}
