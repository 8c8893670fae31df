import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { type Clock, LeaseConfigurationError } from '@leasehold/core'
import { reasonOf, settledInTime } from '@leasehold/core/internal'
import type { BatchEndpoint } from './batch-endpoint.js'
import type { HttpTransportTls } from './http-transport-options.js'

/** Longer than senders keep an idle connection, in milliseconds: else a request could meet a connection that is closing. */
const LONGEST_IDLE = 30_000

interface Place {
  readonly host: string
  readonly port: number
}

interface OwnServerOptions {
  readonly listen: Place
  readonly tls: HttpTransportTls | undefined
  readonly requestTimeout: number
  readonly clock: Clock
}

/** A server for batches only. It keeps no process alive: the regions do. */
export class OwnServer {
  readonly #options: OwnServerOptions
  readonly #server: http.Server | https.Server
  /** The responses that are not sent yet. */
  readonly #open = new Set<ServerResponse>()

  private constructor(endpoint: BatchEndpoint, options: OwnServerOptions) {
    const { tls, requestTimeout } = options
    this.#options = options
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      this.#open.add(response)
      response.once('close', () => this.#open.delete(response))
      void endpoint.onNodeRequest(request, response, { certificateFault: certificateFaultOf(request) })
    }
    const times = { keepAliveTimeout: LONGEST_IDLE, requestTimeout, headersTimeout: requestTimeout }
    // The handshake succeeds without a right certificate, and the request gets an answer that says what is wrong.
    const check = { ...tls, requestCert: true, rejectUnauthorized: false }
    this.#server =
      tls === undefined ? http.createServer(times, answer) : https.createServer({ ...times, ...check }, answer)
    this.#server.on('connection', (socket: Socket) => socket.unref())
    this.#server.unref()
  }

  /** Rejects with a `LeaseConfigurationError` if the place cannot be used. */
  static async open(endpoint: BatchEndpoint, options: OwnServerOptions): Promise<OwnServer> {
    const own = new OwnServer(endpoint, options)
    await own.#listen(options.listen)
    return own
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async #listen({ host, port }: Place): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => reject(unusable(`${host}:${port}`, error)))
      this.#server.listen({ host, port }, resolve)
    })
    // A socket that cannot be accepted costs its sender the request, and not this process.
    this.#server.on('error', () => {})
  }

  /** Takes no new connections, and lets the requests in progress get their answers, within the time limit of a request. */
  async close(): Promise<void> {
    const { clock, requestTimeout } = this.#options
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await settledInTime(clock, requestTimeout, [...this.#open].map(closeOf))
    this.#server.closeAllConnections()
    await closed
  }
}

function closeOf(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => void response.once('close', resolve))
}

function certificateFaultOf({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || socket.authorized) return undefined
  const why = String(socket.authorizationError ?? 'there is none')
  return `the certificate of the sender is not accepted (${why}): set tls with a certificate that the CA of this process has signed`
}

function unusable(place: string, error: NodeJS.ErrnoException): LeaseConfigurationError {
  const advice: Readonly<Record<string, string>> = {
    EADDRINUSE:
      'another program listens there: use another port, or mount the transport into that server with listen: false',
    EADDRNOTAVAIL: `this machine does not have that address: set listen: { host: '0.0.0.0' }`,
    EACCES: 'this process must not listen there: use a port above 1023',
    ENOTFOUND: `the host is not known here: set listen: { host: '0.0.0.0' }`,
  }
  const reason = advice[error.code ?? ''] ?? reasonOf(error)
  return new LeaseConfigurationError(`httpTransport cannot listen on ${place}: ${reason}`, { cause: error })
}
