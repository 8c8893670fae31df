import { AbortListeners, type Clock } from '@leasehold/core'
import type { Answer } from './answers.js'
import { BusyPoll } from './busy-poll.js'
import type { Connection } from './client/connection.js'
import { hashTag } from './client/key-slot.js'
import { closedError, type Link, PATIENCE } from './client/link.js'
import { Operation, type Request, SentCall } from './operation.js'
import { SlowCalls } from './slow-calls.js'

/** How many operations one call of the script does. */
const LARGEST_CALL = 128

/** Into how many calls all that is under way is divided at least, so that client and server work at the same time. */
const CALLS = 4
const SMALLEST_CALL = 8

/** How many of those that are done in bulk: while the script runs, some milliseconds, the server serves nobody else. */
const LARGEST_BULK = 512

/**
 * While a slot of a cluster moves, some of its keys may be here and others there: each can be had alone. ioredis asks nodes
 * at random then, until it has enough of it.
 */
const SCATTERED = /TRYAGAIN|Too many Cluster redirections/

/** What every call tells the script. */
export interface CallContext {
  /** For how long a record is kept after its lease has ended, in milliseconds. */
  readonly recordLife: number
  /** The channel on which this store is told of turns. */
  readonly channel: string
  readonly clustered: boolean
  /** Of a member of a quorum: the key of the floor of its fencing tokens. */
  readonly floorKey?: string | undefined
}

/**
 * Sends operations, each within its time limit: what is not sent by then never is. Those of one turn of the event loop, and
 * those that come while others are under way, share calls of the script, in a cluster with those of their slot.
 */
export class OperationQueue {
  readonly #link: Link
  readonly #clock: Clock
  readonly #clustered: boolean
  readonly #prelude: readonly string[]
  readonly #floorKey: string | undefined
  readonly #aborts = new AbortListeners()
  readonly #poll = new BusyPoll(() => this.#underWay > 0)
  readonly #slow: SlowCalls<SentCall>
  #pending: Operation[] = []
  #isClosed = false
  /** How many operations have been sent and not answered yet. */
  #underWay = 0

  constructor(link: Link, clock: Clock, { recordLife, channel, clustered, floorKey }: CallContext) {
    this.#link = link
    this.#clock = clock
    this.#clustered = clustered
    this.#floorKey = floorKey
    this.#slow = new SlowCalls(clock, ({ operations }) => this.#listen(operations))
    this.#prelude = [String(recordLife * 1_000), `${channel} ${clustered ? 'clustered' : 'single'}`]
  }

  /** Rejects with the signal's reason when it aborts, and with a `LeaseError` for what the server or the client said. */
  run<T>(request: Request<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closedError())
      const operation = new Operation<T>(request, signal, resolve, reject) as Operation
      this.#pending.push(operation)
      if (this.#pending.length === 1) this.#flushSoon()
    })
  }

  /** Rejects what is not sent yet and all that comes; what is under way ends with its connection. */
  close(): void {
    this.#isClosed = true
    this.#slow.stop()
    rejectAll(this.#pending.splice(0), closedError())
  }

  /** At once where nothing is under way; else with all that comes in this turn. */
  #flushSoon(): void {
    if (this.#underWay === 0) queueMicrotask(() => this.#flush())
    else setImmediate(() => this.#flush())
  }

  #flush(): void {
    const pending = this.#pending.filter(isDue)
    this.#pending = []
    const share = Math.ceil((this.#underWay + pending.length) / CALLS)
    const largest = Math.min(Math.max(share, SMALLEST_CALL), LARGEST_CALL)
    if (!pending.some(isBulk)) {
      this.#sendInCalls(pending, largest)
      return
    }
    this.#sendInCalls(
      pending.filter((operation) => !isBulk(operation)),
      largest,
    )
    this.#sendInCalls(pending.filter(isBulk), LARGEST_BULK)
  }

  #sendInCalls(pending: readonly Operation[], largest: number): void {
    for (const group of this.#clustered ? byTag(pending) : [pending]) {
      if (group.length <= largest) this.#send(group, false)
      else for (let from = 0; from < group.length; from += largest) this.#send(group.slice(from, from + largest), false)
    }
  }

  #send(operations: readonly Operation[], isByText: boolean): void {
    if (operations.length === 0) return
    const { current } = this.#link
    if (current !== undefined) {
      this.#prepare(current, operations, isByText)
      return
    }
    this.#listen(operations)
    this.#link.connect().then(
      (connection) => this.#prepare(connection, operations.filter(isDue), isByText),
      (error: unknown) => rejectAll(operations, error),
    )
  }

  #prepare(connection: Connection, operations: readonly Operation[], isByText: boolean): void {
    const [first] = operations
    if (first === undefined) return
    const { key } = first.request
    const lane = connection.traffic.begin(connection.nodeOf(key), this.#clock.now())
    const call = new SentCall(connection, lane, operations, isByText)
    for (const operation of operations) operation.call = call
    this.#underWay += operations.length
    this.#slow.add(call)
    const preparing = connection.prepare(key)
    if (preparing === undefined) this.#call(call)
    else {
      preparing.then(
        () => this.#callDue(call),
        (error: unknown) => this.#onFailure(call, error),
      )
    }
  }

  #callDue(call: SentCall): void {
    const { operations } = call
    call.operations = operations.filter(isDue)
    this.#underWay -= operations.length - call.operations.length
    if (call.operations.length === 0) this.#ended(call)
    else this.#call(call)
  }

  #call(call: SentCall): void {
    this.#poll.start()
    call.run(this.#prelude, this.#floorKey).then(
      (answers) => this.#onAnswers(call, answers as readonly Answer[]),
      (error: unknown) => this.#onFailure(call, error),
    )
  }

  #onAnswers(call: SentCall, answers: readonly Answer[]): void {
    this.#ended(call)
    const { operations } = call
    for (let place = 0; place < operations.length; place += 1) {
      const answer = answers[place]
      if (answer === undefined)
        operations[place]?.fail(new Error('the script answered fewer operations than asked for'))
      else if (answer[0] === 'failed') this.#onFailure(call, new Error(answer[1]), operations.slice(place, place + 1))
      else operations[place]?.answer(answer)
    }
  }

  #onFailure(call: SentCall, error: unknown, failed?: readonly Operation[]): void {
    if (failed === undefined) this.#ended(call)
    const operations = failed ?? call.operations
    const said = error instanceof Error ? error.message : ''
    if (!call.isByText && said.startsWith('NOSCRIPT')) this.#send(operations.filter(isDue), true)
    else if (operations.length > 1 && SCATTERED.test(said)) {
      for (const one of operations.filter(isDue)) this.#send([one], false)
    } else {
      // A master that has become a replica: the client finds the new one when it connects.
      if (said.startsWith('READONLY')) this.#link.drop(call.connection)
      rejectAll(operations, error)
    }
  }

  #ended(call: SentCall): void {
    const { connection, lane, operations } = call
    this.#slow.remove(call)
    this.#underWay -= operations.length
    this.#poll.end()
    connection.traffic.end(lane, this.#clock.now())
  }

  /** Those that take longer than others listen to their signals. */
  #listen(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (!operation.isSettled)
        operation.unlisten ??= this.#aborts.add(operation.signal, () => this.#onAbort(operation))
    }
  }

  /** The time limit of an operation is over. A server from which nothing comes back is not worth to be waited for. */
  #onAbort(operation: Operation): void {
    operation.end()
    const { call } = operation
    if (call === undefined) {
      if (this.#link.openingFor >= PATIENCE) this.#link.giveUpOpening()
      return
    }
    call.onEnd()
    if (this.#clock.now() - call.lane.quietSince < PATIENCE) return
    // In a cluster the other nodes may well answer: what is under way to them goes on.
    if (!this.#clustered) this.#link.drop(call.connection)
    else if (this.#link.openingFor >= PATIENCE) this.#link.giveUpOpening()
    else this.#link.replace(call.connection)
  }
}

function isBulk({ request }: Operation): boolean {
  return request.isBulk
}

/** One whose time limit is over is not sent any more. */
function isDue(operation: Operation): boolean {
  if (operation.signal.aborted) operation.end()
  return !operation.isSettled
}

function rejectAll(operations: readonly Operation[], error: unknown): void {
  for (const operation of operations) operation.fail(error)
}

/** The script may only touch the keys of one slot: of one hash tag. */
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
