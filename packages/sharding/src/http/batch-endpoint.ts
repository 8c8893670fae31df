import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, LeaseConfigurationError } from '@leasehold/core'
import { bodyOf, type HttpBody, pathIn, readText } from '@leasehold/core/internal'
import type { BatchHandler } from '../transport.js'
import { readBatch } from './batch-text.js'
import type { SharedSecret } from './shared-secret.js'

/** What stands before the name of the region at the end of a path. */
const FOLDER = '/leasehold-sharding/'

/** Not `application/json`: servers with a parser for that would read the body, and refuse large ones. */
export const CONTENT_TYPE = 'application/vnd.leasehold+json'

/** The path at which the batches of a region are taken. */
export function pathOf(region: string): string {
  return FOLDER + encodeURIComponent(region)
}

/** The region of a path; `undefined` if the path is not one of ours. Servers that mount the handler may add to its front. */
function regionOf(path: string): string | undefined {
  const start = path.lastIndexOf(FOLDER)
  if (start < 0) return undefined
  try {
    return decodeURIComponent(path.slice(start + FOLDER.length))
  } catch {
    return undefined
  }
}

/** A request, in the form that servers of both kinds have. */
interface Call {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly length: string | undefined
  /** Why the certificate of the sender is not accepted. */
  readonly certificateFault?: string | undefined
  readonly body: HttpBody
}

interface Answer {
  readonly status: number
  readonly body: string
}

interface EndpointOptions {
  readonly secret: SharedSecret | undefined
  readonly bodyLimit: number
  readonly maxRequests: number
  readonly requestTimeout: number
  readonly clock: Clock
}

/** Takes batches over HTTP, for all regions of a transport. It answers all requests, and never throws. */
export class BatchEndpoint {
  readonly #options: EndpointOptions
  readonly #regions = new Map<string, BatchHandler>()
  #busy = 0

  constructor(options: EndpointOptions) {
    this.#options = options
  }

  /** How many regions take batches here. */
  get size(): number {
    return this.#regions.size
  }

  add(region: string, handler: BatchHandler): void {
    if (this.#regions.has(region)) {
      throw new LeaseConfigurationError(
        `a region '${region}' has this transport already: give each region its own name`,
      )
    }
    this.#regions.set(region, handler)
  }

  delete(region: string): boolean {
    return this.#regions.delete(region)
  }

  /**
   * For servers with the requests of `node:http`. `next` takes the requests for other paths. `certificateFault`: why the
   * certificate of the sender is not accepted.
   */
  async onNodeRequest(
    request: IncomingMessage,
    response: ServerResponse,
    {
      next,
      certificateFault,
    }: { readonly next?: (() => void) | undefined; readonly certificateFault?: string | undefined },
  ): Promise<void> {
    const path = pathIn(request.url)
    if (next !== undefined && regionOf(path) === undefined) return next()
    const { status, body } = await this.#answer({
      method: request.method ?? '',
      path,
      authorization: request.headers.authorization,
      length: request.headers['content-length'],
      certificateFault,
      body: bodyOf(request),
    })
    // The rest of a refused body is read, so that the sender sees the answer and not a reset.
    request.resume()
    if (response.destroyed || response.headersSent) return
    response.writeHead(status, { 'content-type': CONTENT_TYPE, 'content-length': Buffer.byteLength(body) }).end(body)
  }

  /** For servers with the requests of the Fetch API. */
  async onFetch(request: Request): Promise<Response> {
    const { status, body } = await this.#answer({
      method: request.method,
      path: pathIn(request.url),
      authorization: request.headers.get('authorization') ?? undefined,
      length: request.headers.get('content-length') ?? undefined,
      body: (request.body as AsyncIterable<Uint8Array> | null) ?? '',
    })
    return new Response(body, { status, headers: { 'content-type': CONTENT_TYPE } })
  }

  async #answer(call: Call): Promise<Answer> {
    const { secret, maxRequests, bodyLimit } = this.#options
    const name = regionOf(call.path)
    if (call.certificateFault !== undefined) return refusal(401, call.certificateFault)
    if (secret !== undefined && !secret.isIn(call.authorization)) {
      return refusal(401, 'the secret is missing or wrong: set the same secret in httpTransport() of all processes')
    }
    const handler = this.#regions.get(name ?? '')
    if (name === undefined || handler === undefined) return refusal(404, 'there is no such region on this process now')
    if (call.method !== 'POST') return refusal(405, 'a batch of messages comes with POST')
    if (Number(call.length ?? 0) > bodyLimit) return tooLarge(bodyLimit)
    if (this.#busy >= maxRequests) return refusal(429, `${maxRequests} batches are being taken: send this one later`)
    this.#busy += 1
    try {
      return await this.#take(name, handler, call)
    } catch {
      return refusal(500, 'the batch failed: some of its messages may have been taken')
    } finally {
      this.#busy -= 1
    }
  }

  async #take(region: string, handler: BatchHandler, call: Call): Promise<Answer> {
    const { bodyLimit, requestTimeout, clock } = this.#options
    const text = await readText(call.body, { limit: bodyLimit, timeout: requestTimeout, clock })
    if (text === 'too-large') return tooLarge(bodyLimit)
    if (text === 'too-late') return refusal(408, `the body did not arrive within ${requestTimeout} ms`)
    if (text === 'broken') return refusal(400, 'the body did not arrive')
    const read = readBatch(text.text, region)
    if ('fault' in read) return refusal(read.isOtherProtocol ? 409 : 400, read.fault)
    return { status: 200, body: JSON.stringify(await handler(read.batch)) }
  }
}

function refusal(status: number, error: string): Answer {
  return { status, body: JSON.stringify({ error }) }
}

function tooLarge(limit: number): Answer {
  return refusal(413, `the body has more than ${limit} bytes: set the same bodyLimit in all processes`)
}
