import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import type { Clock } from '@leasehold/core'
import { readText, reasonOf } from '@leasehold/core/internal'
import { NotDeliveredError, OutcomeUnknownError } from '../delivery-errors.js'
import { CONTENT_TYPE } from './batch-endpoint.js'
import type { HttpTransportTls } from './http-transport-options.js'
import { notConnected, type PeerAnswer } from './peer-failures.js'
import type { SharedSecret } from './shared-secret.js'

/** How long an idle connection is kept, in milliseconds: less than the 5 s after which servers of Node close theirs. */
const LONGEST_IDLE = 4_000

/** How much an answer may have beside its receipts, in bytes. */
const MOST_OF_AN_ERROR = 65_536

interface PeerClientOptions {
  readonly secret: SharedSecret | undefined
  readonly tls: HttpTransportTls | undefined
  readonly bodyLimit: number
  readonly requestTimeout: number
  readonly clock: Clock
}

/** Posts texts to other processes, on connections that it keeps. */
export class PeerClient {
  readonly #options: PeerClientOptions
  readonly #open = new Set<ClientRequest>()
  #agents: { readonly http: http.Agent; readonly https: https.Agent } | undefined

  constructor(options: PeerClientOptions) {
    this.#options = options
  }

  /**
   * Resolves with the answer, whatever its status. Rejects with a `NotDeliveredError` as long as no byte of the request was
   * sent, and later with an `OutcomeUnknownError`: also where a connection that was used before is reset, because the reset may
   * be the answer to this request. Nothing is sent twice.
   */
  async post(url: URL, body: string, signal: AbortSignal): Promise<PeerAnswer> {
    const { requestTimeout, clock } = this.#options
    const limit = new AbortController()
    const abort = (): void => limit.abort(signal.reason)
    const cancel = clock.schedule(requestTimeout, () => limit.abort(new Error(`no answer within ${requestTimeout} ms`)))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      return await this.#exchange(url, body, limit.signal)
    } finally {
      cancel()
      signal.removeEventListener('abort', abort)
    }
  }

  /** Ends all requests and connections. */
  close(): void {
    for (const request of this.#open) request.destroy(new Error('the transport is closed'))
    this.#agents?.http.destroy()
    this.#agents?.https.destroy()
    this.#agents = undefined
  }

  async #exchange(url: URL, body: string, signal: AbortSignal): Promise<PeerAnswer> {
    const request = this.#requestFor(url, body)
    const progress = { isSent: false }
    this.#open.add(request)
    try {
      return await new Promise<PeerAnswer>((resolve, reject) => {
        this.#watch(request, signal, resolve, reject)
        request.once('socket', (socket: Socket) => {
          whenConnected(request, socket, () => {
            progress.isSent = true
            request.end(body)
          })
        })
      })
    } catch (error) {
      // An answer that was not read to its end would keep the connection.
      request.destroy()
      if (progress.isSent) {
        throw new OutcomeUnknownError(`${url.origin} may have taken the messages: ${reasonOf(error)}`, { cause: error })
      }
      // The other process has closed the connection since the last request.
      if (request.reusedSocket && !signal.aborted) return await this.#exchange(url, body, signal)
      throw notConnected(url.origin, error)
    } finally {
      this.#open.delete(request)
    }
  }

  #watch(
    request: ClientRequest,
    signal: AbortSignal,
    resolve: (answer: PeerAnswer) => void,
    reject: (error: unknown) => void,
  ): void {
    request.on('error', reject)
    request.once('response', (response) => void this.#read(response).then(resolve, reject))
    request.once('upgrade', (_, socket: Socket) => {
      socket.destroy()
      reject(new Error('it switched to another protocol'))
    })
    const onAbort = (): void => {
      reject(signal.reason)
      request.destroy()
    }
    signal.addEventListener('abort', onAbort)
    request.once('close', () => signal.removeEventListener('abort', onAbort))
    if (signal.aborted) onAbort()
  }

  #requestFor(url: URL, body: string): ClientRequest {
    const { secret, tls } = this.#options
    const isSecure = url.protocol === 'https:'
    // A record of the store must not bring the messages onto an open line.
    if (tls !== undefined && !isSecure) {
      throw new NotDeliveredError(`${url.origin} has no https, and this process has tls: set tls in all processes`)
    }
    this.#agents ??= agentsWith(tls)
    const { protocol, hostname, port, path } = urlToHttpOptions(url)
    return (isSecure ? https : http).request({
      protocol,
      hostname,
      port,
      path,
      method: 'POST',
      headers: {
        'content-type': CONTENT_TYPE,
        'content-length': Buffer.byteLength(body),
        ...(secret === undefined ? {} : { authorization: secret.header }),
      },
      agent: isSecure ? this.#agents.https : this.#agents.http,
    })
  }

  async #read(response: IncomingMessage): Promise<PeerAnswer> {
    const { bodyLimit, requestTimeout, clock } = this.#options
    // Receipts can be longer than their messages.
    const limit = 2 * bodyLimit + MOST_OF_AN_ERROR
    const read = await readText(response, { limit, timeout: requestTimeout, clock })
    if (typeof read === 'string') throw new Error(`its answer was ${read}`)
    return { status: response.statusCode ?? 0, text: read.text, location: response.headers.location }
  }
}

/** Calls `send` when the connection is made, and its certificates are checked. Nothing was sent before. */
function whenConnected(request: ClientRequest, socket: Socket, send: () => void): void {
  // The region keeps the process alive while it waits, if it is to.
  socket.unref()
  if (!request.reusedSocket) {
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', send)
    return
  }
  // The second one comes after a look at the network: an end of the connection that has arrived is seen before the request is
  // sent on it.
  setImmediate(() => {
    setImmediate(() => {
      if (!request.destroyed) send()
    })
  })
}

function agentsWith(tls: HttpTransportTls | undefined) {
  const limits = { keepAlive: true, scheduling: 'lifo' as const, timeout: LONGEST_IDLE }
  return { http: new http.Agent(limits), https: new https.Agent({ ...limits, ...tls }) }
}
