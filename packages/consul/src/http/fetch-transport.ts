import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import type { ConsulAnswer } from './consul-answer.js'
import {
  type ConsulRequest,
  type ConsulTransport,
  isWorthRepeating,
  type Standing,
  targetOf,
} from './consul-transport.js'

/** A `fetch` of the user: that of Node, of undici, or a function around one of them. */
export type FetchLike = (url: string, init: FetchInit) => Promise<FetchAnswer>

export interface FetchInit {
  method: 'GET' | 'PUT'
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  redirect: 'manual'
}

/** The parts of a `Response` that this package reads. */
export interface FetchAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

/** Requests by the user's `fetch`, with its connections, proxy and certificates. */
export class FetchTransport implements ConsulTransport {
  readonly #fetch: FetchLike
  readonly #standing: Standing
  readonly #open = new Set<AbortableCall>()

  constructor(fetch: FetchLike, standing: Standing) {
    this.#fetch = fetch
    this.#standing = standing
  }

  async exchange(address: URL, request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer> {
    const own = new AbortableCall(call.timeout)
    const unlisten = call.onAbort(() => own.abort())
    this.#open.add(own)
    try {
      // A function of the user may not heed the signal.
      return await untilAborted(this.#ask(address, request, own), own)
    } finally {
      unlisten()
      this.#open.delete(own)
    }
  }

  close(): void {
    for (const own of this.#open) own.abort(new Error('the store is closed'))
  }

  async #ask(address: URL, request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer> {
    const url = new URL(targetOf(address, request, this.#standing.query), address).href
    const { method, body } = request
    const init: FetchInit = {
      method,
      headers: { ...this.#standing.headers },
      ...(body === undefined ? {} : { body }),
      signal: call.signal,
      redirect: 'manual',
    }
    const answer = await this.#fetch(url, init).catch((error: unknown) => {
      const cause = causeOf(error)
      if (call.aborted || !isWorthRepeating(request, cause)) throw cause
      // As with kept connections of ours.
      return this.#fetch(url, init).catch((again: unknown) => {
        throw causeOf(again)
      })
    })
    const index = Number(answer.headers.get('x-consul-index') ?? 0)
    return { status: answer.status, text: await answer.text(), index }
  }
}

/** The error of the network in a `TypeError: fetch failed`. */
function causeOf(error: unknown): Error {
  const { cause } = Object(error) as { readonly cause?: unknown }
  if (cause instanceof Error) return cause
  return error instanceof Error ? error : new Error(String(error))
}
