import type { StoreCall } from '@leasehold/core/store'
import type { VirtualClock } from '../time/virtual-clock.js'
import type { Network } from './network.js'
import type { Nonsense } from './nonsense.js'

/** Answers a request; rejects where the store does. */
type Method = (...args: never[]) => Promise<unknown>

/** The methods of a store over the network. */
export type Methods = Readonly<Record<string, Method>>

/** The server's side. */
export interface Server {
  /** The methods that clients call over the network. */
  readonly methods: Methods
  /** Whether it refuses connections. */
  isDown: boolean
}

export interface ClientManners {
  /** Whether requests end when their call is aborted. */
  readonly cancels: boolean
  readonly nonsense: Nonsense
  /** Called when two requests use the same call at the same time. */
  readonly onSharedCall: () => void
}

/** Ends a request with an answer or a failure; has no effect on one that has ended. */
type Settle = (value: unknown, isFailure: boolean) => void

/** The connection of one process to the store: requests and answers are messages of the network. */
export class Connection {
  readonly #node: number
  readonly #machine: VirtualClock
  readonly #network: Network
  readonly #server: Server
  readonly #manners: ClientManners
  readonly #requests = new Set<Settle>()
  readonly #underWay = new Set<StoreCall>()
  readonly #streams = new Set<() => void>()
  #isDead = false

  constructor(node: number, machine: VirtualClock, network: Network, server: Server, manners: ClientManners) {
    this.#node = node
    this.#machine = machine
    this.#network = network
    this.#server = server
    this.#manners = manners
  }

  get pending(): number {
    return this.#requests.size
  }

  call<T>(method: string, args: readonly unknown[], call: StoreCall): Promise<T> {
    if (this.#underWay.has(call) && !call.aborted) this.#manners.onSharedCall()
    return this.#manners.nonsense.answer(
      method,
      () => this.#ask<T>(method, args, call),
      () => this.#send(method, args, () => {}),
    )
  }

  /**
   * A watch of the store, until it is aborted or the connection is cut. `subscribe` gets a function that sends a value to the
   * reader, and returns a function that ends the subscription.
   */
  watch<T>(call: StoreCall, subscribe: (send: (value: T) => void) => () => void): AsyncIterable<T> {
    return this.#manners.nonsense.watch(() => this.#follow(call, subscribe))
  }

  /** Keeps only the last value that was not read yet. */
  async *#follow<T>(call: StoreCall, subscribe: (send: (value: T) => void) => () => void): AsyncGenerator<T> {
    let latest: { readonly value: T } | undefined
    let isCut = false
    let wake = (): void => {}
    const unsubscribe = subscribe((value) =>
      this.#deliver(() => {
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

  #ask<T>(method: string, args: readonly unknown[], call: StoreCall): Promise<T> {
    this.#underWay.add(call)
    return new Promise<T>((resolve, reject) => {
      if (this.#isDead) return
      let forget = (): void => {}
      const settle: Settle = (value, isFailure) => {
        if (!this.#requests.delete(settle)) return
        this.#underWay.delete(call)
        forget()
        if (isFailure) reject(value)
        else resolve(value as T)
      }
      this.#requests.add(settle)
      const onAbort = (): void => settle(call.signal.reason, true)
      if (call.aborted) return onAbort()
      if (this.#manners.cancels) forget = call.onAbort(onAbort)
      this.#send(method, args, settle)
    })
  }

  /** Sends a message to another receiver than the store; `arrive` may answer. */
  post(arrive: (answer: (deliver: () => void) => void) => void): void {
    this.#network.send(this.#node, 'to-store', () => arrive((deliver) => this.#deliver(deliver)))
  }

  /** The server is down: pending requests fail, if the network delivers that, and every stream ends. */
  reset(): void {
    for (const settle of this.#requests) this.#deliver(() => settle(new Error('connection reset'), true))
    for (const end of this.#streams) this.#deliver(end)
  }

  /** The process has died: messages no longer reach it, and its streams end. */
  kill(): void {
    this.#isDead = true
    this.#requests.clear()
    for (const end of [...this.#streams]) end()
  }

  #send(method: string, args: readonly unknown[], onAnswer: Settle): void {
    this.post((answer) => {
      const reply: Settle = (value, isFailure) => answer(() => onAnswer(value, isFailure))
      if (this.#server.isDown) return reply(new Error('connection refused'), true)
      const answering = this.#server.methods[method]
      if (answering === undefined) throw new TypeError(`the server has no method '${method}'`)
      answering(...(args as never[])).then(
        (value) => reply(value, false),
        (error: unknown) => reply(error, true),
      )
    })
  }

  #deliver(deliver: () => void): void {
    this.#network.send(this.#node, 'from-store', () => {
      this.#machine.receive(() => {
        if (!this.#isDead) deliver()
      })
    })
  }
}
