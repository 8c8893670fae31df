import type { ErrorBody, ServerEvents } from '../../src/protocol.js'
import { errorOf } from '../api/error-of.js'
import type { PageFetch } from '../api/page-fetch.js'
import type { PageClock } from '../time/page-clock.js'
import { Backoff } from './backoff.js'
import { EventParser } from './event-parser.js'

/** The parts of the page that take the events. */
export interface ConnectionListener {
  onEvent<K extends keyof ServerEvents>(event: K, data: ServerEvents[K]): void
  /** A new stream has begun: its list replaces all that came before. `serverDate` is by the clock of the server. */
  onOpen(serverDate: number | undefined): void
  /** The stream ended, or did not begin. Another attempt follows, except after the status 401. */
  onEnd(error: ErrorBody, status: number | undefined): void
}

export interface ConnectionOptions {
  readonly fetch: PageFetch
  readonly clock: PageClock
  readonly random: () => number
  readonly token: () => string | undefined
  readonly listener: ConnectionListener
}

interface Failure {
  readonly error: ErrorBody
  readonly status?: number
}

const ended: Failure = { error: { code: 'connection', message: 'The connection to the server ended.' } }

/** The stream of events, opened again and again until the server asks for a token. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #backoff: Backoff
  #watched: string | undefined
  #current = new AbortController()
  #cancelRetry: () => void = () => {}

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.random)
  }

  /** Connects at once, also where an attempt is pending or a stream is open. */
  start(): void {
    this.stop()
    this.#current = new AbortController()
    void this.#read(this.#current.signal)
  }

  stop(): void {
    this.#cancelRetry()
    this.#current.abort()
  }

  /** Asks for the changes of this lease at once, rather than with the next listing. */
  watch(name: string): void {
    if (name === this.#watched) return
    this.#watched = name
    this.start()
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { listener, clock } = this.#options
    const failure = await this.#readOnce(signal).catch(failureOf)
    if (signal.aborted) return
    listener.onEnd(failure.error, failure.status)
    if (failure.status === 401) return
    this.#cancelRetry = clock.schedule(this.#backoff.next(), () => this.start())
  }

  async #readOnce(signal: AbortSignal): Promise<Failure> {
    const token = this.#options.token()
    const response = await this.#options.fetch(
      this.#watched === undefined ? 'api/events' : `api/events?watch=${encodeURIComponent(this.#watched)}`,
      {
        signal,
        cache: 'no-store',
        headers: { accept: 'text/event-stream', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      },
    )
    if (signal.aborted) return ended
    if (!response.ok || response.body === null) return { error: await errorOf(response), status: response.status }
    const date = Date.parse(response.headers.get('date') ?? '')
    this.#options.listener.onOpen(Number.isNaN(date) ? undefined : date)
    await this.#readBody(response.body, signal)
    return ended
  }

  async #readBody(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    const parser = new EventParser()
    const decoder = new TextDecoder()
    const reader = body.getReader()
    while (true) {
      const { done, value } = await reader.read()
      if (done || signal.aborted) return
      for (const { event, data } of parser.push(decoder.decode(value, { stream: true }))) {
        // Only a stream that says something is a success: a proxy may open one while the server is down.
        this.#backoff.reset()
        this.#options.listener.onEvent(event as keyof ServerEvents, JSON.parse(data))
      }
    }
  }
}

function failureOf(cause: unknown): Failure {
  const isUnreadable = cause instanceof SyntaxError
  const message = isUnreadable ? 'The server sent something that is not JSON.' : 'The server cannot be reached.'
  return { error: { code: 'connection', message } }
}
