import type { IncomingMessage, ServerResponse } from 'node:http'
import { RecentMap } from '@leasehold/core/store-kit'
import { NotDeliveredError, OutcomeUnknownError } from '../delivery-errors.js'
import type { Batch, Receipt } from '../message.js'
import type { BatchHandler, Transport } from '../transport.js'
import { BatchEndpoint, pathOf } from './batch-endpoint.js'
import { readReceipts, writeBatch } from './batch-text.js'
import { type CheckedHttpOptions, checkedHttpOptions, type HttpTransportOptions } from './http-transport-options.js'
import { OwnServer } from './own-server.js'
import { PeerClient } from './peer-client.js'
import { failedAnswer } from './peer-failures.js'
import { SharedSecret } from './shared-secret.js'

/** Of how many paths the URL is remembered. */
const MOST_URLS = 1_000

/**
 * Carries messages over HTTP. One transport serves several regions and singletons.
 *
 * With `listen: false`, mount `handler` or `fetch` into your own server, for all paths below `/leasehold-sharding/`.
 */
export interface HttpTransport extends Transport {
  /**
   * For servers with the requests of `node:http`: Express takes it as a middleware, Fastify in an `onRequest` hook. It calls
   * `next` for all other paths; without `next`, it answers 404.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void
  /** For servers with the requests of the Fetch API, such as Hono. */
  readonly fetch: (request: Request) => Promise<Response>
}

/**
 * Carries messages over HTTP, on connections that are kept. Throws a `LeaseConfigurationError` if an option is invalid.
 *
 * A batch is sent once. If the connection was not made, or the answer says that nothing was done, `send` rejects with a
 * `NotDeliveredError`; after every other failure, with an `OutcomeUnknownError`.
 */
export function httpTransport(options: HttpTransportOptions): HttpTransport {
  return new Http(checkedHttpOptions(options))
}

class Http implements HttpTransport {
  readonly #options: CheckedHttpOptions
  readonly #endpoint: BatchEndpoint
  readonly #client: PeerClient
  readonly #urls = new RecentMap<URL>(MOST_URLS)
  #server: Promise<OwnServer> | undefined
  #closing: Promise<void> | undefined
  #address: string

  constructor(options: CheckedHttpOptions) {
    const parts = { ...options, secret: options.secret === undefined ? undefined : new SharedSecret(options.secret) }
    this.#options = options
    this.#endpoint = new BatchEndpoint(parts)
    this.#client = new PeerClient(parts)
    this.#address = textOf(options.address)
  }

  get address(): string {
    return this.#address
  }

  readonly handler = (request: IncomingMessage, response: ServerResponse, next?: () => void): void => {
    void this.#endpoint.onNodeRequest(request, response, { next })
  }

  readonly fetch = (request: Request): Promise<Response> => this.#endpoint.onFetch(request)

  async listen(region: string, handler: BatchHandler): Promise<void> {
    await this.#closing
    this.#endpoint.add(region, handler)
    try {
      await this.#openServer()
    } catch (error) {
      this.#endpoint.delete(region)
      throw error
    }
  }

  async send(address: string, batch: Batch, signal: AbortSignal): Promise<readonly Receipt[]> {
    const url = this.#urlOf(address, batch.region)
    const written = writeBatch(batch, this.#options.bodyLimit)
    if ('outcome' in written) return [written]
    const answer = await this.#client.post(url, written.text, signal)
    if (answer.status !== 200) throw failedAnswer(url.origin, answer)
    const receipts = readReceipts(answer.text, written.count)
    if (receipts !== undefined) return receipts
    throw new OutcomeUnknownError(`${url.origin} may have taken the messages: its answer has no receipts for them`)
  }

  async close(region: string): Promise<void> {
    if (!this.#endpoint.delete(region) || this.#endpoint.size > 0) return await this.#closing
    this.#closing = this.#closeAll()
    await this.#closing
    this.#closing = undefined
  }

  async #openServer(): Promise<void> {
    const { listen, address } = this.#options
    if (listen === undefined) return
    this.#server ??= OwnServer.open(this.#endpoint, { ...this.#options, listen })
    try {
      const { port } = await this.#server
      if (address.port === '0') this.#address = textOf(withPort(address, port))
    } catch (error) {
      this.#server = undefined
      throw error
    }
  }

  async #closeAll(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await (await server)?.close()
    this.#client.close()
  }

  #urlOf(address: string, region: string): URL {
    const text = `${address}${pathOf(region)}`
    const known = this.#urls.get(text)
    if (known !== undefined) return known
    const url = URL.canParse(address) ? new URL(text) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw new NotDeliveredError(`'${address}' is no address for HTTP: use httpTransport() in all processes`)
    }
    this.#urls.set(text, url)
    return url
  }
}

function withPort(address: URL, port: number): URL {
  const url = new URL(address)
  url.port = String(port)
  return url
}

/** The address as records show it: a path can be appended. */
function textOf(address: URL): string {
  return address.href.replace(/\/$/, '')
}
