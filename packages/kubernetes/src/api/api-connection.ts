import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import https, { type RequestOptions } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import type { StoreCall } from '@leasehold/core/store'
import { misconfigured, unanswered } from '../failure-of.js'
import type { ApiRequest } from './api-request.js'
import type { KubeConfigLike } from './kube-config.js'

/** The server closes idle connections after 90 s; the client closes them earlier. Milliseconds. */
const LONGEST_IDLE = 60_000

/** The idle time before the first TCP keep-alive probe, in milliseconds. */
const KEEP_ALIVE = 15_000

/** Which connection carries a request: a kept-alive one, or a new one of its own. */
export type ConnectionUse = 'kept' | 'own'

/** HTTPS connections to one API server, with its credentials. Redirects are not followed. */
export class ApiConnection {
  readonly #agent = new https.Agent({ keepAlive: true, timeout: LONGEST_IDLE, scheduling: 'lifo' })
  /** It keeps no connections, only TLS sessions: without a session, a handshake costs several times as much. */
  readonly #ownAgent = new https.Agent()
  readonly #open = new Set<ClientRequest>()

  /**
   * Resolves with the head of the answer. Repeats the request on a new connection if the server had closed the kept one,
   * unless it is to be sent `once`. Rejects with the reason of the abort, or with a `LeaseUnavailableError` if no answer comes.
   */
  async send(
    config: KubeConfigLike,
    request: ApiRequest,
    use: ConnectionUse,
    call: StoreCall,
  ): Promise<IncomingMessage> {
    const options = await this.#optionsOf(config, request, use)
    if (call.aborted) throw call.signal.reason
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (options.protocol === 'http:' ? http : https).request(options)
      this.#open.add(sent)
      const unlisten = call.onAbort(() => {
        reject(call.signal.reason)
        sent.destroy()
      })
      sent.on('close', () => this.#open.delete(sent))
      sent.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE))
      sent.on('response', (response) => {
        unlisten()
        resolve(response)
      })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        unlisten()
        if (call.aborted) return
        // The server had closed the connection. Every write is conditional on a version or on a missing object, so it can be repeated.
        const isStale = sent.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(String(error.code))
        if (isStale && request.once !== true) resolve(this.send(config, request, 'own', call))
        else reject(unanswered(error))
      })
      sent.end(request.body === undefined ? undefined : JSON.stringify(request.body))
    })
  }

  /** Ends all requests and connections. */
  close(): void {
    for (const sent of this.#open) sent.destroy()
    this.#agent.destroy()
    this.#ownAgent.destroy()
  }

  async #optionsOf(config: KubeConfigLike, request: ApiRequest, use: ConnectionUse): Promise<RequestOptions> {
    const cluster = config.getCurrentCluster()
    if (cluster === null) throw misconfigured('the kubeconfig has no current cluster: set its current-context')
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
      throw misconfigured(`the credentials for the API server cannot be loaded: ${reason}`, error)
    }
    if (server.protocol === 'http:' && carriesSecret(options)) {
      throw misconfigured(`${cluster.server} is not https: credentials are not sent over an unencrypted connection`)
    }
    // Only insecure-skip-tls-verify in the kubeconfig turns verification off; NODE_TLS_REJECT_UNAUTHORIZED does not.
    options.rejectUnauthorized = options.rejectUnauthorized !== false
    // client-node makes an agent for every request; only the agent of a proxy is needed.
    if (cluster.proxyUrl === undefined) {
      const agent = use === 'kept' ? this.#agent : this.#ownAgent
      options.agent = server.protocol === 'https:' ? agent : false
    }
    return options
  }
}

function carriesSecret({ headers, auth }: RequestOptions): boolean {
  const names = Object.keys(headers ?? {}).map((name) => name.toLowerCase())
  return names.includes('authorization') || (auth !== undefined && auth !== null)
}
