import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import https, { type RequestOptions } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { type AbortListeners, LeaseConfigurationError } from '@leasehold/core'
import type { ApiRequest } from './api-request.js'
import type { KubeConfigLike } from './kube-config.js'

/** The server closes a connection that is idle for 90 s without a word: ours are closed before. Milliseconds. */
const LONGEST_IDLE = 60_000

/** After so long in silence the system asks whether the other side is still there, in milliseconds. */
const KEEP_ALIVE = 15_000

/** On what a request is sent: one of the connections kept for it, or a new one of its own. */
export type ConnectionUse = 'kept' | 'own'

/** A request that was never answered; `stale`: because the kept connection was closed before it was sent. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError'
  readonly stale: boolean

  constructor(cause: Error, stale: boolean) {
    super(cause.message, { cause })
    this.stale = stale
  }
}

/** HTTPS to one API server, with the credentials that belong to it. Redirects are not followed. */
export class ApiConnection {
  readonly #aborts: AbortListeners
  readonly #agent = new https.Agent({ keepAlive: true, timeout: LONGEST_IDLE, scheduling: 'lifo' })
  readonly #open = new Set<ClientRequest>()

  constructor(aborts: AbortListeners) {
    this.#aborts = aborts
  }

  /** The head of the answer. Rejects with the reason of the signal, or with an `UnansweredError`. */
  async send(
    config: KubeConfigLike,
    request: ApiRequest,
    use: ConnectionUse,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const options = await this.#optionsOf(config, request, use)
    signal.throwIfAborted()
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (options.protocol === 'http:' ? http : https).request(options)
      this.#open.add(sent)
      const unlisten = this.#aborts.add(signal, () => {
        reject(signal.reason)
        sent.destroy()
      })
      sent.on('close', () => this.#open.delete(sent))
      sent.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE))
      sent.on('response', (response) => {
        unlisten()
        resolve(response)
      })
      sent.on('error', (error) => {
        unlisten()
        reject(new UnansweredError(error, sent.reusedSocket && isReset(error)))
      })
      sent.end(request.body === undefined ? undefined : JSON.stringify(request.body))
    })
  }

  /** Ends all that is under way. */
  close(): void {
    for (const sent of this.#open) sent.destroy()
    this.#agent.destroy()
  }

  async #optionsOf(config: KubeConfigLike, request: ApiRequest, use: ConnectionUse): Promise<RequestOptions> {
    const cluster = config.getCurrentCluster()
    if (cluster === null) throw refusal('the kubeconfig has no current cluster: set its current-context')
    const address = new URL(cluster.server)
    const server = urlToHttpOptions(address)
    const query = new URLSearchParams(request.query).toString()
    const headers: OutgoingHttpHeaders = { accept: 'application/json', 'user-agent': 'leasehold' }
    if (request.body !== undefined) headers['content-type'] = 'application/json'
    const options: RequestOptions = {
      method: request.method,
      protocol: server.protocol,
      hostname: server.hostname,
      port: server.port,
      path: `${address.pathname.replace(/\/$/, '')}${request.path}${query === '' ? '' : `?${query}`}`,
      headers,
    }
    try {
      await config.applyToHTTPSOptions(options)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw refusal(`the credentials of the kubeconfig cannot be had: ${reason}`, error)
    }
    if (server.protocol === 'http:' && carriesSecret(options)) {
      throw refusal(`${cluster.server} is not https: credentials are not sent in the clear`)
    }
    // Nothing but an explicit word in the kubeconfig turns verification off, and no variable of the environment.
    options.rejectUnauthorized = options.rejectUnauthorized !== false
    // The library makes an agent for every request; only one through a proxy is more than a default.
    if (cluster.proxyUrl === undefined) {
      const isKept = use === 'kept' && server.protocol === 'https:'
      options.agent = isKept ? this.#agent : false
    }
    return options
  }
}

function carriesSecret({ headers, auth }: RequestOptions): boolean {
  const names = Object.keys(headers ?? {}).map((name) => name.toLowerCase())
  return names.includes('authorization') || (auth !== undefined && auth !== null)
}

/** Whether the error is that of a connection that the server had closed. */
function isReset(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE'
}

function refusal(message: string, cause?: unknown): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { store: 'kubernetes', cause })
}
