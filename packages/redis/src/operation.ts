import type { Answer } from './answers.js'
import type { Connection, ScriptCall } from './client/connection.js'
import type { NodeTraffic } from './client/traffic.js'
import { failureOf } from './failure-of.js'
import { leaseScript, leaseScriptSha } from './script/lease-script.js'

/** One operation of the script on one lease. */
export interface Request<T> {
  /** The name of the operation, such as `renew`. */
  readonly operation: string
  readonly leaseName: string
  readonly key: string
  /** The arguments, as the script reads them. */
  readonly args: string
  readonly toOutcome: (answer: Answer, leaseName: string) => T
}

/** Receives one outcome, or one error, for each place. */
export interface Outcomes<T> {
  resolve(outcome: T, place: number): void
  reject(error: unknown, place: number): void
}

/** A request in the queue or on its way. It settles once. */
export class Operation<T = unknown> {
  readonly request: Request<T>
  readonly #outcomes: Outcomes<T>
  readonly #place: number
  /** Since when it waits for its answer. */
  readonly since: number
  isSettled = false
  /** Whether it has left the queue, so that it counts as under way until it is settled. */
  isTaken = false
  /** The call that it is part of, once it is sent. */
  call: SentCall | undefined
  onSettled: (() => void) | undefined

  constructor(request: Request<T>, outcomes: Outcomes<T>, place: number, since: number) {
    this.request = request
    this.#outcomes = outcomes
    this.#place = place
    this.since = since
  }

  answer(answer: Answer): void {
    if (!this.#settle()) return
    try {
      const { request } = this
      this.#outcomes.resolve(request.toOutcome(answer, request.leaseName), this.#place)
    } catch (error) {
      this.#fail(error)
    }
  }

  fail(error: unknown): void {
    if (this.#settle()) this.#fail(error)
  }

  /** The attempt was aborted: rejects with the reason. */
  abort(reason: unknown): void {
    if (this.#settle()) this.#outcomes.reject(reason, this.#place)
  }

  #settle(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    this.onSettled?.()
    return true
  }

  #fail(error: unknown): void {
    const { operation, leaseName } = this.request
    this.#outcomes.reject(failureOf(operation, leaseName, error), this.#place)
  }
}

/** Operations that are sent together, over one connection to one node. */
export class SentCall {
  readonly connection: Connection
  readonly traffic: NodeTraffic
  readonly isByText: boolean
  /** Whether one of the operations was aborted, so that it is about to be seen whether the connection is silent. */
  isDoubted = false
  operations: readonly Operation[]
  #abandoned: AbortController | undefined
  #aborted = 0

  constructor(connection: Connection, traffic: NodeTraffic, operations: readonly Operation[], isByText: boolean) {
    this.connection = connection
    this.traffic = traffic
    this.operations = operations
    this.isByText = isByText
  }

  /** `floorKey`: the key of the floor of a member of a quorum; see the script. */
  run([life, caller]: readonly [string, string], floorKey: string | undefined): Promise<unknown> {
    const keys: string[] = []
    const each: string[] = []
    const name = this.operations[0]?.request.operation
    const isShared = this.operations.every(({ request }) => request.operation === name)
    for (const { request } of this.operations) {
      keys.push(request.key)
      each.push(isShared ? request.args : `${request.operation} ${request.args}`)
    }
    if (floorKey !== undefined) keys.push(floorKey)
    const args = isShared && name === 'renew' ? [each.join(' ')] : each
    args.unshift(life, isShared ? `${caller} ${name}` : caller)
    const call: ScriptCall = this.isByText
      ? { command: 'EVAL', script: leaseScript, keys, args }
      : { command: 'EVALSHA', script: leaseScriptSha, keys, args }
    return this.connection.run(call, this)
  }

  /** Aborted when all of the operations are. */
  get signal(): AbortSignal {
    this.#abandoned ??= new AbortController()
    return this.#abandoned.signal
  }

  /** One of the operations was aborted. The call is abandoned with the last of them. */
  onAbort(): void {
    this.#aborted += 1
    if (this.#aborted === this.operations.length) this.#abandoned?.abort()
  }
}
