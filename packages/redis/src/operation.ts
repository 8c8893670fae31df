import type { Answer } from './answers.js'
import type { Connection, ScriptCall } from './client/connection.js'
import type { Lane } from './client/traffic.js'
import { failureOf } from './failure-of.js'
import { leaseScript, leaseScriptSha } from './script/lease-script.js'

/** What is asked of the script for one lease. */
export interface Request<T> {
  /** Such as `renew`. */
  readonly operation: string
  readonly leaseName: string
  readonly key: string
  /** What the operation is told beside its name, as the script reads it. */
  readonly told: string
  readonly toOutcome: (answer: Answer, leaseName: string) => T
  /** Whether it is to take few calls, rather than little time. */
  readonly isBulk: boolean
}

/** A request on its way: it is settled once. */
export class Operation<T = unknown> {
  readonly request: Request<T>
  readonly signal: AbortSignal
  readonly #resolve: (outcome: T) => void
  readonly #reject: (error: unknown) => void
  isSettled = false
  /** The call that it is part of, once it is sent. */
  call: SentCall | undefined
  /** Stops listening to the signal, where that was begun. */
  unlisten: (() => void) | undefined

  constructor(
    request: Request<T>,
    signal: AbortSignal,
    resolve: (outcome: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request
    this.signal = signal
    this.#resolve = resolve
    this.#reject = reject
  }

  answer(answer: Answer): void {
    if (!this.#settle()) return
    try {
      const { request } = this
      this.#resolve(request.toOutcome(answer, request.leaseName))
    } catch (error) {
      this.#fail(error)
    }
  }

  fail(error: unknown): void {
    if (this.#settle()) this.#fail(error)
  }

  /** Its time limit is over: rejects with the reason of the signal. */
  end(): void {
    if (this.#settle()) this.#reject(this.signal.reason)
  }

  #settle(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    this.unlisten?.()
    return true
  }

  #fail(error: unknown): void {
    const { operation, leaseName } = this.request
    this.#reject(failureOf(operation, leaseName, error))
  }
}

/** Operations that are sent together, over one connection to one server. */
export class SentCall {
  readonly connection: Connection
  readonly lane: Lane
  readonly isByText: boolean
  operations: readonly Operation[]
  #given: AbortController | undefined
  #settled = 0

  constructor(connection: Connection, lane: Lane, operations: readonly Operation[], isByText: boolean) {
    this.connection = connection
    this.lane = lane
    this.operations = operations
    this.isByText = isByText
  }

  /** The floor is that of a member of a quorum: see the script. */
  run(prelude: readonly string[], floorKey: string | undefined): Promise<unknown> {
    const keys: string[] = []
    const args = [...prelude]
    for (const { request } of this.operations) {
      keys.push(request.key)
      args.push(`${request.operation} ${request.told}`)
    }
    if (floorKey !== undefined) keys.push(floorKey)
    const call: ScriptCall = this.isByText
      ? { command: 'EVAL', script: leaseScript, keys, args }
      : { command: 'EVALSHA', script: leaseScriptSha, keys, args }
    if (!this.connection.takesBack) return this.connection.run(call)
    this.#given = new AbortController()
    return this.connection.run(call, this.#given.signal)
  }

  /** One of them is not waited for any more. */
  onEnd(): void {
    this.#settled += 1
    if (this.#settled === this.operations.length) this.#given?.abort()
  }
}
