import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { Answer } from './answers.js'
import type { Connection } from './client/connection.js'
import { hashTag } from './client/key-slot.js'
import { closedError, type LazyConnection, STALL_TIMEOUT } from './client/lazy-connection.js'
import { Operation, type Outcomes, type Request, SentCall } from './operation.js'

/** The most operations of single callers in one call of the script. */
const LARGEST_CALL = 128

/** All operations under way are divided into at least so many calls, so that client and server work at the same time. */
const CALLS = 4
const SMALLEST_CALL = 8

/**
 * How many operations of single callers are on their way at most. A crowd of waiters must not delay the heartbeats, which go
 * past them. In a cluster there is no limit, because a node that hangs would hold up the operations on the others.
 */
const MOST_UNDER_WAY = CALLS * LARGEST_CALL

/** The most operations of one caller in one call: while the script runs, the server serves no other client. */
const LARGEST_BULK = 512

/**
 * While a slot of a cluster moves, its keys are on two nodes, and only calls with a single key succeed. ioredis then asks
 * nodes at random until it gives up.
 */
const SCATTERED = /TRYAGAIN|Too many Cluster redirections/

/** The part of a call that is the same for all operations. */
export interface CallContext {
  /** How long a record is kept after its lease has ended, in milliseconds. */
  readonly recordLife: number
  /** The channel of the turns of this store. */
  readonly channel: string
  readonly clustered: boolean
  /** The key of the floor of the fencing tokens, for a member of a quorum. */
  readonly floorKey?: string | undefined
}

/**
 * Sends operations as calls of the script. Operations of one turn of the event loop share a call; in a cluster only those
 * with the same hash tag. An operation that is aborted before it is sent is never sent.
 */
export class OperationQueue {
  readonly #connection: LazyConnection
  readonly #clock: Clock
  readonly #clustered: boolean
  readonly #prelude: readonly [string, string]
  readonly #floorKey: string | undefined
  #pending: Operation[] = []
  #isScheduled = false
  /** How many operations of single callers have been sent and are not settled yet. */
  #underWay = 0

  constructor(connection: LazyConnection, clock: Clock, { recordLife, channel, clustered, floorKey }: CallContext) {
    this.#connection = connection
    this.#clock = clock
    this.#clustered = clustered
    this.#floorKey = floorKey
    const place = `${clustered ? 'clustered' : 'single'} ${floorKey === undefined ? 'alone' : 'member'}`
    this.#prelude = [String(recordLife * 1_000), `${channel} ${place}`]
  }

  /** Rejects at once with the reason of the abort, and with a `LeaseError` for failures of the server or the client. */
  run<T>(request: Request<T>, call: StoreCall): Promise<T> {
    return new Promise((resolve, reject) => {
      const operation = new Operation<T>(request, { resolve, reject }, 0, this.#clock.now()) as Operation
      const removeListener = call.onAbort(() => this.#abort(operation, call))
      operation.onSettled = () => {
        removeListener()
        if (operation.isTaken) this.#underWay -= 1
        this.#schedule()
      }
      if (operation.isSettled) return
      this.#pending.push(operation)
      this.#schedule()
    })
  }

  /** Runs operations in few large calls. An error stands for each operation whose outcome is unknown. */
  async runMany<T>(requests: readonly Request<T>[], call: StoreCall): Promise<(T | Error)[]> {
    const outcomes: (T | Error)[] = new Array(requests.length)
    let left = requests.length
    let settled = (): void => {}
    const settle = (outcome: T | Error, place: number): void => {
      outcomes[place] = outcome
      left -= 1
      if (left === 0) settled()
    }
    const each: Outcomes<T> = { resolve: settle, reject: (error, place) => settle(error as Error, place) }
    const now = this.#clock.now()
    const operations = requests.map((request, place) => new Operation(request, each, place, now) as Operation)
    const removeListener = call.onAbort(() => {
      for (const operation of operations) if (!operation.isSettled) this.#abort(operation, call)
    })
    this.#sendInCalls(operations.filter(isOpen), LARGEST_BULK)
    if (left > 0) {
      await new Promise<void>((resolve) => {
        settled = resolve
      })
    }
    removeListener()
    return outcomes
  }

  /** Rejects the operations that are not sent yet; those under way end with their connection. */
  close(): void {
    rejectAll(this.#pending.splice(0), closedError())
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pending.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    const taken = this.#take(this.#clustered ? Number.POSITIVE_INFINITY : MOST_UNDER_WAY - this.#underWay)
    this.#underWay += taken.length
    const share = Math.ceil(this.#underWay / CALLS)
    this.#sendInCalls(taken, Math.min(Math.max(share, SMALLEST_CALL), LARGEST_CALL))
  }

  /** Takes the first open operations from the queue, and drops the settled ones before them. */
  #take(most: number): readonly Operation[] {
    const taken: Operation[] = []
    let next = 0
    for (; next < this.#pending.length && taken.length < most; next += 1) {
      const operation = this.#pending[next]
      if (operation === undefined || operation.isSettled) continue
      operation.isTaken = true
      taken.push(operation)
    }
    this.#pending.splice(0, next)
    return taken
  }

  #sendInCalls(pending: readonly Operation[], largest: number): void {
    for (const group of this.#clustered ? byTag(pending) : [pending]) {
      if (group.length <= largest) this.#send(group, false)
      else for (let from = 0; from < group.length; from += largest) this.#send(group.slice(from, from + largest), false)
    }
  }

  #send(operations: readonly Operation[], isByText: boolean): void {
    if (operations.length === 0) return
    const { current } = this.#connection
    if (current !== undefined) {
      this.#prepare(current, operations, isByText)
      return
    }
    this.#connection.connect().then(
      (connection) => this.#prepare(connection, operations.filter(isOpen), isByText),
      (error: unknown) => rejectAll(operations, error),
    )
  }

  #prepare(connection: Connection, operations: readonly Operation[], isByText: boolean): void {
    const [first] = operations
    if (first === undefined) return
    const { key } = first.request
    const traffic = connection.traffic.begin(connection.nodeOf(key), this.#clock.now())
    const call = new SentCall(connection, traffic, operations, isByText)
    for (const operation of operations) operation.call = call
    const preparing = connection.prepare(key)
    if (preparing === undefined) this.#call(call)
    else {
      preparing.then(
        () => this.#callOpen(call),
        (error: unknown) => this.#onFailure(call, error),
      )
    }
  }

  #callOpen(call: SentCall): void {
    call.operations = call.operations.filter(isOpen)
    if (call.operations.length === 0) this.#ended(call)
    else this.#call(call)
  }

  #call(call: SentCall): void {
    call.run(this.#prelude, this.#floorKey).then(
      (answers) => this.#onAnswers(call, answers as string | readonly Answer[]),
      (error: unknown) => this.#onFailure(call, error),
    )
  }

  /** A single answer is that to each of the operations. */
  #onAnswers(call: SentCall, answers: string | readonly Answer[]): void {
    this.#ended(call)
    const { operations } = call
    for (let place = 0; place < operations.length; place += 1) {
      const answer = typeof answers === 'string' ? answers : answers[place]
      if (answer === undefined) operations[place]?.fail(new Error('the script returned too few answers'))
      else if (answer[0] === 'failed') this.#onFailure(call, new Error(answer[1]), operations.slice(place, place + 1))
      else operations[place]?.answer(answer)
    }
  }

  #onFailure(call: SentCall, error: unknown, failed?: readonly Operation[]): void {
    if (failed === undefined) this.#ended(call)
    const operations = failed ?? call.operations
    const message = error instanceof Error ? error.message : ''
    if (!call.isByText && message.startsWith('NOSCRIPT')) this.#send(operations.filter(isOpen), true)
    else if (operations.length > 1 && SCATTERED.test(message)) {
      for (const one of operations.filter(isOpen)) this.#send([one], false)
    } else {
      // A master that has become a replica: the client finds the new master when it connects.
      if (message.startsWith('READONLY')) this.#connection.drop(call.connection)
      rejectAll(operations, error)
    }
  }

  #ended({ connection, traffic }: SentCall): void {
    connection.traffic.end(traffic, this.#clock.now())
  }

  /** Rejects an operation whose attempt was aborted. Its connection is dropped if it has been silent for too long. */
  #abort(operation: Operation, { signal }: StoreCall): void {
    operation.abort(signal.reason)
    const { call } = operation
    // A slow server, or a busy process, answers late. So the longer the operation has waited, the longer the silence must be.
    const stall = Math.max(STALL_TIMEOUT, (this.#clock.now() - operation.since) / 2)
    if (call === undefined) {
      if (this.#connection.openingFor >= stall) this.#connection.giveUpOpening()
      return
    }
    call.onAbort()
    if (call.isDoubted) return
    call.isDoubted = true
    // After a blocked event loop, time limits end before the answers are read that have come meanwhile.
    setImmediate(() => this.#dropIfSilent(call, stall))
  }

  #dropIfSilent(call: SentCall, stall: number): void {
    call.isDoubted = false
    if (call.traffic.openCalls === 0 || this.#clock.now() - call.traffic.silentSince < stall) return
    // In a cluster, calls to other nodes may still be answered.
    if (!this.#clustered) this.#connection.drop(call.connection)
    else if (this.#connection.openingFor >= stall) this.#connection.giveUpOpening()
    else this.#connection.replace(call.connection)
  }
}

function isOpen(operation: Operation): boolean {
  return !operation.isSettled
}

function rejectAll(operations: readonly Operation[], error: unknown): void {
  for (const operation of operations) operation.fail(error)
}

/** The script may only touch the keys of one slot. */
function byTag(operations: readonly Operation[]): Iterable<readonly Operation[]> {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations) {
    const tag = hashTag(operation.request.key)
    const group = groups.get(tag)
    if (group === undefined) groups.set(tag, [operation])
    else group.push(operation)
  }
  return groups.values()
}
