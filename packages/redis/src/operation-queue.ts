import type { Clock } from '@leasehold/core'
import { reasonOf } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { closedError, type Operation as QueuedOperation, Requests } from '@leasehold/core/store-kit'
import type { Answer } from './answers.js'
import type { Connection, ScriptCall } from './client/connection.js'
import { hashTag } from './client/key-slot.js'
import { type LazyConnection, STALL_TIMEOUT } from './client/lazy-connection.js'
import type { NodeTraffic } from './client/traffic.js'
import { failureOf } from './failure-of.js'
import type { LeaseScript } from './script/lease-script.js'

/**
 * How many calls of the script for single callers are under way at most. So client and server work at the same time, but a
 * crowd of waiters does not delay the heartbeats, which do not wait for these calls. In a cluster there is no limit,
 * because a node that hangs would hold up the operations on the others.
 */
const CALLS = 4

/** How many operations of single callers share a call. */
const SMALLEST_CALL = 8
const LARGEST_CALL = 128

/** The most operations of one caller in one call: while the script runs, the server serves no other client. */
const LARGEST_BULK = 512

/**
 * While a slot of a cluster moves, its keys are on two nodes, and only calls with a single key succeed. ioredis then asks
 * nodes at random until it gives up.
 */
const SCATTERED = /TRYAGAIN|Too many Cluster redirections/

/** The part of a call that is the same for all operations. */
export interface CallContext {
  readonly script: LeaseScript
  /** How long a record is kept after its lease has ended, in milliseconds. */
  readonly recordLife: number
  /** The channel of the turns of this store. */
  readonly channel: string
  readonly clustered: boolean
  /** The key of the floor of the fencing tokens, for a member of a quorum. */
  readonly floorKey?: string | undefined
}

/** One operation of the script on one lease. */
export interface Request<T> {
  /** The name of the operation, such as `renew`. */
  readonly operation: string
  readonly leaseName: string
  readonly key: string
  /** The key of another lock that the operation holds together with the lease, for all operations or for none. */
  readonly oldKey?: string | undefined
  /** The arguments, as the script reads them. */
  readonly args: string
  readonly toOutcome: (answer: Answer, leaseName: string) => T
}

/** The requests of one caller. Their answers have the same order. */
interface Query {
  readonly requests: readonly Omit<Request<unknown>, 'toOutcome'>[]
  /** Since when it waits for its answer. */
  readonly since: number
  sent: SentCall | undefined
  /** The place of its first answer among those of the call. */
  place: number
}

/** The answers to the operations of a call. A single text is the answer to each of them. */
type Answers = string | readonly Answer[]

type Operation = QueuedOperation<Query, Answers>

/** A call of the script, over one connection to one node. */
interface SentCall {
  readonly connection: Connection
  readonly traffic: NodeTraffic
  /** Whether one of the operations was aborted: a check whether the connection is silent then follows. */
  isDoubted: boolean
}

/** Sends operations as calls of the script; in a cluster, only those with the same hash tag share a call. */
export class OperationQueue {
  readonly #connection: LazyConnection
  readonly #clock: Clock
  readonly #clustered: boolean
  readonly #prelude: readonly [life: string, caller: string]
  readonly #script: LeaseScript
  readonly #floorKey: string | undefined
  readonly #requests: Requests<Query, Answers>
  /** The connections over which the text of the script has gone. */
  readonly #informed = new WeakSet<Connection>()

  constructor(connection: LazyConnection, clock: Clock, context: CallContext) {
    const { script, recordLife, channel, clustered, floorKey } = context
    this.#connection = connection
    this.#clock = clock
    this.#clustered = clustered
    this.#script = script
    this.#floorKey = floorKey
    this.#prelude = [String(recordLife * 1_000), `${channel} ${clustered ? 'clustered' : 'single'}`]
    this.#requests = new Requests(
      {
        most: clustered ? Number.POSITIVE_INFINITY : CALLS,
        smallest: clustered ? LARGEST_CALL : SMALLEST_CALL,
        largest: LARGEST_CALL,
        send: (operations, call) => this.#send(operations, call),
        isOfOne: (error) => SCATTERED.test(reasonOf(error)),
        ...(clustered && { divide: byTag }),
      },
      clock,
    )
  }

  /** Rejects at once with the reason of the abort, and with a `LeaseError` for failures of the server or the client. */
  async run<T>(request: Request<T>, call: StoreCall): Promise<T> {
    const query: Query = { requests: [request], since: this.#clock.now(), sent: undefined, place: 0 }
    try {
      return outcomeOf(request, await this.#requests.run(query, call), query.place)
    } catch (error) {
      throw this.#failureOf(request, error, query, call)
    }
  }

  /** Runs operations in few large calls. An error stands for each operation whose outcome is unknown. */
  async runMany<T>(requests: readonly Request<T>[], call: StoreCall): Promise<(T | Error)[]> {
    const parts: Promise<(T | Error)[]>[] = []
    if (this.#clustered)
      parts.push(Promise.all(requests.map((request) => this.run(request, call).catch((error: Error) => error))))
    else {
      for (let from = 0; from < requests.length; from += LARGEST_BULK) {
        parts.push(this.#runTogether(requests.slice(from, from + LARGEST_BULK), call))
      }
    }
    return (await Promise.all(parts)).flat()
  }

  /** Rejects the operations; the calls under way end with their connection. */
  close(): void {
    this.#requests.close(closedError('redis'))
  }

  async #runTogether<T>(requests: readonly Request<T>[], call: StoreCall): Promise<(T | Error)[]> {
    const query: Query = { requests, since: this.#clock.now(), sent: undefined, place: 0 }
    let answers: Answers = []
    let failure: unknown
    try {
      answers = await this.#requests.runAtOnce(query, call)
    } catch (error) {
      failure = error
    }
    return requests.map((request, place) => {
      try {
        if (failure !== undefined) throw failure
        return outcomeOf(request, answers, query.place + place)
      } catch (error) {
        return this.#failureOf(request, error, query, call) as Error
      }
    })
  }

  #send(operations: readonly Operation[], call: StoreCall): Promise<void> {
    const { current } = this.#connection
    if (current !== undefined) return this.#sendOver(current, operations, call, false)
    return this.#connection
      .connect()
      .then((connection) => this.#sendOver(connection, operations.filter(isOpen), call, false))
  }

  async #sendOver(
    connection: Connection,
    operations: readonly Operation[],
    call: StoreCall,
    isRepeated: boolean,
  ): Promise<void> {
    const isByText = isRepeated || (connection.isTextFirst === true && !this.#informed.has(connection))
    this.#informed.add(connection)
    const key = operations[0]?.query.requests[0]?.key
    if (key === undefined) return
    const traffic = connection.traffic.begin(connection.nodeOf(key), this.#clock.now())
    const sent: SentCall = { connection, traffic, isDoubted: false }
    for (const { query } of operations) query.sent = sent
    let open = operations
    try {
      const preparing = connection.prepare(key)
      if (preparing !== undefined) {
        await preparing
        open = operations.filter(isOpen)
        if (open.length === 0) return
      }
      settle(open, (await connection.run(this.#callOf(open, isByText), call)) as Answers)
      return
    } catch (error) {
      if (isByText || !reasonOf(error).startsWith('NOSCRIPT')) throw error
    } finally {
      connection.traffic.end(traffic, this.#clock.now())
    }
    await this.#sendOver(connection, open.filter(isOpen), call, true)
  }

  #callOf(operations: readonly Operation[], isByText: boolean): ScriptCall {
    const [life, caller] = this.#prelude
    const keys: string[] = []
    const oldKeys: string[] = []
    const args: string[] = []
    const name = operations[0]?.query.requests[0]?.operation
    const isShared = operations.every(({ query: { requests } }) => requests[0]?.operation === name)
    for (const { query } of operations) {
      for (const request of query.requests) {
        keys.push(request.key)
        if (request.oldKey !== undefined) oldKeys.push(request.oldKey)
        args.push(isShared ? request.args : `${request.operation} ${request.args}`)
      }
    }
    for (const key of oldKeys) keys.push(key)
    if (this.#floorKey !== undefined) keys.push(this.#floorKey)
    const each = isShared && name === 'renew' ? [args.join(' ')] : args
    each.unshift(life, isShared ? `${caller} ${name}` : caller)
    return isByText
      ? { command: 'EVAL', script: this.#script.text, keys, args: each }
      : { command: 'EVALSHA', script: this.#script.sha, keys, args: each }
  }

  /** The error of an operation; the reason where it was aborted. Drops a connection that does not serve. */
  #failureOf({ operation, leaseName }: Request<unknown>, error: unknown, query: Query, call: StoreCall): unknown {
    if (call.aborted) {
      this.#onAbort(query)
      return error
    }
    // A master that has become a replica: the client finds the new master when it connects.
    if (query.sent !== undefined && reasonOf(error).startsWith('READONLY')) {
      this.#connection.drop(query.sent.connection)
    }
    return failureOf(operation, leaseName, error)
  }

  /** Drops the connection of an operation whose attempt was aborted, if it has been silent for too long. */
  #onAbort({ since, sent }: Query): void {
    // A slow server, or a busy process, answers late. So the longer the operation has waited, the longer the silence must be.
    const stall = Math.max(STALL_TIMEOUT, (this.#clock.now() - since) / 2)
    if (sent === undefined) {
      if (this.#connection.openingFor >= stall) this.#connection.giveUpOpening()
      return
    }
    if (sent.isDoubted) return
    sent.isDoubted = true
    // After a blocked event loop, time limits end before the answers that came meanwhile are read.
    setImmediate(() => this.#dropIfSilent(sent, stall))
  }

  #dropIfSilent(sent: SentCall, stall: number): void {
    sent.isDoubted = false
    if (sent.traffic.openCalls === 0 || this.#clock.now() - sent.traffic.silentSince < stall) return
    // In a cluster, calls to other nodes may still be answered.
    if (!this.#clustered) this.#connection.drop(sent.connection)
    else if (this.#connection.openingFor >= stall) this.#connection.giveUpOpening()
    else this.#connection.replace(sent.connection)
  }
}

function settle(operations: readonly Operation[], answers: Answers): void {
  let place = 0
  for (const operation of operations) {
    const { query } = operation
    query.place = place
    operation.resolve(answers)
    place += query.requests.length
  }
}

function outcomeOf<T>({ leaseName, toOutcome }: Request<T>, answers: Answers, place: number): T {
  const answer = typeof answers === 'string' ? answers : answers[place]
  if (answer === undefined) throw new Error('the script returned too few answers')
  if (answer[0] === 'failed') throw new Error(answer[1])
  return toOutcome(answer, leaseName)
}

function isOpen(operation: Operation): boolean {
  return operation.isOpen
}

/** The script may only touch the keys of one slot. */
function byTag(operations: readonly Operation[]): Iterable<readonly Operation[]> {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations) {
    const tag = hashTag(operation.query.requests[0]?.key ?? '')
    const group = groups.get(tag)
    if (group === undefined) groups.set(tag, [operation])
    else group.push(operation)
  }
  return groups.values()
}
