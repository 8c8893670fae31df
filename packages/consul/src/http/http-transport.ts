import http, { type ClientRequest } from 'node:http'
import https from 'node:https'
import { text } from 'node:stream/consumers'
import { urlToHttpOptions } from 'node:url'
import type { StoreCall } from '@leasehold/core/store'
import type { ConsulAnswer } from './consul-answer.js'
import {
  type ConsulRequest,
  type ConsulTransport,
  isWorthRepeating,
  type Standing,
  targetOf,
} from './consul-transport.js'

/** An idle connection is closed after this time, in milliseconds. */
const LONGEST_IDLE = 60_000

/** The idle time before the first TCP keep-alive probe, in milliseconds. */
const KEEP_ALIVE = 15_000

/** How many requests run at the same time, and how many blocking queries: an agent takes 200 connections of one client. */
const MOST_REQUESTS = 64
const MOST_BLOCKING = 50

export interface HttpSettings extends Standing {
  /** Options of `http.request` and `https.request`, such as an agent of the user or certificates. */
  readonly options: https.RequestOptions
}

/** Requests of `node:http` and `node:https`. */
export class HttpTransport implements ConsulTransport {
  readonly #settings: () => HttpSettings
  /** The agents that this transport has made. */
  readonly #agents = new Map<string, http.Agent>()
  readonly #open = new Set<ClientRequest>()

  /** `settings`: asked for each request. */
  constructor(settings: () => HttpSettings) {
    this.#settings = settings
  }

  async exchange(address: URL, request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer> {
    const { method, body, blocking = false } = request
    const { options, headers, query } = this.#settings()
    const { protocol, hostname, port } = urlToHttpOptions(address)
    const sent = (protocol === 'https:' ? https : http).request({
      protocol,
      hostname,
      port,
      agent: this.#agentFor(protocol === 'https:', blocking, options),
      ...options,
      method,
      path: targetOf(address, request, query),
      headers,
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
        sent.on('error', (error) => {
          if (sent.reusedSocket && isWorthRepeating(request, error) && !call.aborted)
            resolve(this.exchange(address, request, call))
          else reject(error)
        })
        sent.end(body)
      })
    } finally {
      unlisten()
      this.#open.delete(sent)
    }
  }

  close(): void {
    for (const sent of this.#open) sent.destroy(new Error('the store is closed'))
    for (const agent of this.#agents.values()) agent.destroy()
  }

  #agentFor(secure: boolean, blocking: boolean, options: https.RequestOptions): http.Agent | undefined {
    if (options.agent !== undefined) return undefined
    const key = `${secure}${blocking}`
    const kept = this.#agents.get(key)
    if (kept !== undefined) return kept
    const [timeout, maxSockets] = blocking ? [0, MOST_BLOCKING] : [LONGEST_IDLE, MOST_REQUESTS]
    const limited = { keepAlive: true, scheduling: 'lifo' as const, timeout, maxSockets }
    const agent = secure ? new https.Agent(limited) : new http.Agent(limited)
    this.#agents.set(key, agent)
    return agent
  }
}
