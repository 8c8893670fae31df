import type { StoreCall } from '@leasehold/core/store'
import type { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'
import type { Monitor } from './monitor.js'
import type { Direction } from './network.js'
import type { Nonsense } from './nonsense.js'
import type { SimulationPlan } from './plan.js'

/** The process of a connection. */
export interface Client {
  readonly node: number
  readonly owner: string
  readonly machine: VirtualClock
  /** Messages no longer reach it. */
  readonly isDead: boolean
}

/** What a message is about: a request, its answer or failure, or a notice of a watch. */
export interface Content {
  /** The method of the store, or `watch`. */
  readonly method: string
  /** Of a write. */
  readonly fencingToken?: bigint
  readonly answer?: unknown
  readonly isFailure?: boolean
}

/** Delivers messages between the nodes and the store, sooner or later, or never. */
export interface Carrier {
  send(node: number, direction: Direction, deliver: () => void, content: Content): void
}

/** The simulation, from the side of a connection. */
export interface Line {
  readonly plan: Pick<SimulationPlan, 'cancels'>
  readonly network: Carrier
  readonly monitor: Pick<Monitor, 'fail'>
  /** Whether the server refuses connections. */
  readonly isServerDown: boolean
}

/** Answers the calls of a client, or spoils the answers. */
export type Answering = Pick<Nonsense, 'answer' | 'watch'>

/** Ends a request with an answer or a failure; has no effect on one that has ended. */
type Settle = (value: unknown, isFailure: boolean) => void

/** The connection of one process to the store: requests and answers are messages of the network. */
export class Connection {
  readonly #process: Client
  readonly #simulation: Line
  readonly #nonsense: Answering
  /** The requests that have no answer yet, each with its method. */
  readonly #requests = new Map<Settle, string>()
  readonly #underWay = new Set<StoreCall>()
  readonly #streams = new Set<() => void>()

  constructor(process: Client, simulation: Line, nonsense: Answering) {
    this.#process = process
    this.#simulation = simulation
    this.#nonsense = nonsense
  }

  get pending(): number {
    return this.#requests.size
  }

  /** The methods of the requests that have no answer yet. */
  get pendingMethods(): Iterable<string> {
    return this.#requests.values()
  }

  /** Calls a method of the store: `execute` runs on the server, once for each arrival of the request. */
  call<T>(method: string, call: StoreCall, execute: () => Promise<T>): Promise<T> {
    if (this.#underWay.has(call) && !call.aborted) {
      this.#simulation.monitor.fail('shared-call', `of ${this.#process.owner}`)
    }
    return this.#nonsense.answer(
      method,
      () => this.#ask(method, call, execute),
      () => this.#send(method, execute, () => {}),
    )
  }

  /**
   * A watch of the store, until it is aborted or the connection is cut. `subscribe` gets a function that sends a value to the
   * reader, and returns a function that ends the subscription.
   */
  watch<T>(call: StoreCall, subscribe: (send: (value: T) => void) => () => void): AsyncIterable<T> {
    return this.#nonsense.watch(() => this.#follow(call, subscribe))
  }

  /** Keeps only the last value that was not read yet. */
  async *#follow<T>(call: StoreCall, subscribe: (send: (value: T) => void) => () => void): AsyncGenerator<T> {
    let latest: { readonly value: T } | undefined
    let isCut = false
    let wake = (): void => {}
    const unsubscribe = subscribe((value) =>
      this.#deliver({ method: 'watch', answer: value }, () => {
        latest = { value }
        wake()
      }),
    )
    const cut = (): void => {
      isCut = true
      wake()
    }
    this.#streams.add(cut)
    const forgetCall = call.onAbort(() => wake())
    const isOver = (): boolean => isCut || call.aborted
    try {
      while (!isOver()) {
        if (latest === undefined) await new Promise<void>((resolve) => (wake = resolve))
        const unread = latest
        latest = undefined
        if (unread !== undefined && !isOver()) yield unread.value
      }
      if (isCut) throw new Error('connection reset')
    } finally {
      forgetCall()
      this.#streams.delete(cut)
      unsubscribe()
    }
  }

  #ask<T>(method: string, call: StoreCall, execute: () => Promise<T>): Promise<T> {
    this.#underWay.add(call)
    return new Promise<T>((resolve, reject) => {
      if (this.#process.isDead) return
      let forget = (): void => {}
      const settle: Settle = (value, isFailure) => {
        if (!this.#requests.delete(settle)) return
        this.#underWay.delete(call)
        forget()
        if (isFailure) reject(value)
        else resolve(value as T)
      }
      this.#requests.set(settle, method)
      const onAbort = (): void => settle(call.signal.reason, true)
      if (call.aborted) return onAbort()
      if (this.#simulation.plan.cancels) forget = call.onAbort(onAbort)
      this.#send(method, execute, settle)
    })
  }

  /** Sends a message to another receiver than the store; `arrive` may answer. */
  post(
    content: Content,
    arrive: (answer: (value: unknown, isFailure: boolean, deliver: () => void) => void) => void,
  ): void {
    const { network } = this.#simulation
    const answer = (value: unknown, isFailure: boolean, deliver: () => void): void =>
      this.#deliver({ ...content, answer: value, isFailure }, deliver)
    network.send(this.#process.node, 'to-store', () => arrive(answer), content)
  }

  /** The server is down: pending requests fail, if the network delivers that, and every stream ends. */
  reset(): void {
    const content: Content = { method: 'reset', isFailure: true }
    for (const settle of this.#requests.keys())
      this.#deliver(content, () => settle(new Error('connection reset'), true))
    for (const end of this.#streams) this.#deliver(content, end)
  }

  /** The process has died: its streams end. */
  kill(): void {
    this.#requests.clear()
    for (const end of [...this.#streams]) end()
  }

  #send(method: string, execute: () => Promise<unknown>, onAnswer: Settle): void {
    this.post({ method }, (answer) => {
      const reply: Settle = (value, isFailure) => answer(value, isFailure, () => onAnswer(value, isFailure))
      if (this.#simulation.isServerDown) return reply(new Error('connection refused'), true)
      execute().then(
        (value) => reply(value, false),
        (error: unknown) => reply(error, true),
      )
    })
  }

  #deliver(content: Content, deliver: () => void): void {
    const arrive = (): void => {
      this.#process.machine.receive(() => {
        if (!this.#process.isDead) deliver()
      })
    }
    this.#simulation.network.send(this.#process.node, 'from-store', arrive, content)
  }
}
