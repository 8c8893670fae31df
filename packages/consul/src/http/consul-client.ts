import http, { type ClientRequest } from 'node:http'
import https from 'node:https'
import { text } from 'node:stream/consumers'
import { urlToHttpOptions } from 'node:url'
import { type Clock, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { addressesIn, type ConsulClusterOptions, certificatesIn } from '../consul-options.js'
import { unanswered } from '../failure-of.js'
import type { ConsulAnswer } from './consul-answer.js'

/** An idle connection is closed after this time, in milliseconds. */
const LONGEST_IDLE = 60_000

/** The idle time before the first TCP keep-alive probe, in milliseconds. */
const KEEP_ALIVE = 15_000

/** How many requests run at the same time, and how many blocking queries: an agent takes 200 connections of one client. */
const MOST_REQUESTS = 64
const MOST_BLOCKING = 50

/** The time for which an agent holds a blocking query, in seconds. The agent adds up to a sixteenth of it. */
export const LONGEST_WAIT = 30

/** An agent that has not answered a blocking query for this time, in milliseconds, is silent. */
const SILENCE = LONGEST_WAIT * 1_000 * (1 + 1 / 16) + 5_000

export interface ConsulRequest {
  readonly method: 'GET' | 'PUT'
  /** Below `/v1`, such as `/kv/leasehold/orders`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether the agent answers only after a change. Such requests have connections of their own. */
  readonly blocking?: boolean
}

/** Sends requests to one of several Consul agents, on connections that it keeps. */
export class ConsulClient {
  readonly #addresses: readonly URL[]
  readonly #query: Readonly<Record<string, string>>
  readonly #headers: http.OutgoingHttpHeaders
  readonly #tls: https.AgentOptions
  readonly #clock: Clock
  readonly #agent: http.Agent | undefined
  /** The agents that this client has made. */
  readonly #agents = new Map<string, http.Agent>()
  readonly #open = new Set<ClientRequest>()
  /** The address that answered last. */
  #preferred = 0

  /** Throws a `LeaseConfigurationError` if an option is invalid. The constructor sends no request. */
  constructor(options: ConsulClusterOptions) {
    const { token, datacenter, clock = systemClock } = options
    this.#addresses = addressesIn(options)
    this.#tls = certificatesIn(options)
    this.#query = datacenter === undefined ? {} : { dc: datacenter }
    this.#headers = { 'user-agent': 'leasehold', ...(token === undefined ? {} : { 'x-consul-token': token }) }
    this.#clock = clock
    this.#agent = options.agent
  }

  /**
   * Resolves with the answer, whatever its status. An agent that cannot be reached, is silent for its part of the time
   * limit, or answers with a 5xx, is replaced by the next one: so every request must be one that may be applied twice.
   * Rejects with the reason of the abort, or with a `LeaseUnavailableError` if no agent answers.
   */
  async send(request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer> {
    const first = this.#preferred
    let last: ConsulAnswer | Error | undefined
    for (let tried = 0; tried < this.#addresses.length; tried += 1) {
      if (call.aborted) throw call.signal.reason
      const place = (first + tried) % this.#addresses.length
      last = await this.#ask(this.#addresses[place] as URL, request, call)
      if (!(last instanceof Error) && last.status < 500) {
        this.#preferred = place
        return last
      }
      if (this.#preferred === place) this.#preferred = (place + 1) % this.#addresses.length
    }
    if (last instanceof Error) throw last
    return last as ConsulAnswer
  }

  /** Ends all requests and connections. */
  close(): void {
    for (const sent of this.#open) sent.destroy(new Error('the store is closed'))
    for (const agent of this.#agents.values()) agent.destroy()
  }

  /** One request to one agent. Rejects only when the call is aborted; another failure is the result. */
  async #ask(address: URL, request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer | Error> {
    const limit = new AbortableCall(call.timeout)
    const unlisten = call.onAbort(() => limit.abort())
    const part = request.blocking === true ? SILENCE : call.timeout / this.#addresses.length
    const isLimited = part < call.timeout
    const cancel = isLimited ? this.#clock.schedule(part, () => limit.abort()) : undefined
    try {
      return await this.#exchange(address, request, limit)
    } catch (error) {
      if (call.aborted) throw call.signal.reason
      if (limit.aborted) {
        return new LeaseUnavailableError(
          `the Consul agent ${address.host} was silent: the request may have been applied`,
          {
            store: 'consul',
          },
        )
      }
      return error instanceof LeaseUnavailableError ? error : unanswered(error)
    } finally {
      cancel?.()
      unlisten()
    }
  }

  async #exchange(address: URL, request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer> {
    const { method, path, query, body, blocking = false } = request
    const search = new URLSearchParams({ ...query, ...this.#query }).toString()
    const { protocol, hostname, port } = urlToHttpOptions(address)
    const sent = (protocol === 'https:' ? https : http).request({
      protocol,
      hostname,
      port,
      method,
      path: `${address.pathname.replace(/\/$/, '')}/v1${path}${search === '' ? '' : `?${search}`}`,
      headers: this.#headers,
      agent: this.#agent ?? this.#agentFor(protocol === 'https:', blocking),
    })
    this.#open.add(sent)
    const unlisten = call.onAbort(() => sent.destroy(new Error('aborted')))
    try {
      return await new Promise<ConsulAnswer>((resolve, reject) => {
        sent.on('socket', (socket) => {
          socket.setKeepAlive(true, KEEP_ALIVE)
          // A blocking query must not keep the process alive.
          if (blocking) socket.unref()
        })
        sent.on('response', (response) => {
          const index = Number(response.headers['x-consul-index'] ?? 0)
          text(response).then((said) => resolve({ status: response.statusCode ?? 0, text: said, index }), reject)
        })
        sent.on('error', (error: NodeJS.ErrnoException) => {
          const isStale = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE') && !call.aborted
          if (isStale) resolve(this.#exchange(address, request, call))
          else reject(error)
        })
        sent.end(body)
      })
    } finally {
      unlisten()
      this.#open.delete(sent)
    }
  }

  #agentFor(secure: boolean, blocking: boolean): http.Agent {
    const key = `${secure}${blocking}`
    const kept = this.#agents.get(key)
    if (kept !== undefined) return kept
    const [timeout, maxSockets] = blocking ? [0, MOST_BLOCKING] : [LONGEST_IDLE, MOST_REQUESTS]
    const limited = { keepAlive: true, scheduling: 'lifo' as const, timeout, maxSockets }
    const agent = secure ? new https.Agent({ ...limited, ...this.#tls }) : new http.Agent(limited)
    this.#agents.set(key, agent)
    return agent
  }
}
