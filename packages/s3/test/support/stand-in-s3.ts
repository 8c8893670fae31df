import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { wallTime } from '@leasehold/core/store-kit'

export interface StoredObject {
  readonly body: string
  readonly etag: string
  /** Milliseconds since 1970. */
  readonly lastModified: number
}

export interface SeenRequest {
  readonly method: string
  /** The path after the bucket, decoded, with the query. */
  readonly key: string
  readonly headers: IncomingMessage['headers']
}

/** An answer instead of that of the service. */
export interface Interception {
  readonly status: number
  readonly code?: string
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface StandInOptions {
  /** The time of the service, in milliseconds since 1970; that of this machine unless given. */
  readonly time?: () => number
  /** How many keys a page of a listing has. */
  readonly pageSize?: number
  /** Whether an answer to a write has the time of the write. That of AWS has not. */
  readonly tellsWrites?: boolean
  /** Whether `If-Match` has to be without quotes, as for Ceph's gateway. */
  readonly wantsBareTags?: boolean
}

/** The part of S3 that leases use, in this process, with the bucket `leases`. It keeps all conditions, and can fail. */
export class StandInS3 {
  readonly url: string
  readonly objects = new Map<string, StoredObject>()
  readonly requests: SeenRequest[] = []
  /** The ETags of all writes. */
  readonly etags: string[] = []
  /** Asked before each request; `undefined`: the service answers. */
  intercept: (request: SeenRequest) => Interception | undefined = () => undefined
  /** The next write is done, and has the answer of its repetition by the client: its condition is not met any more. */
  repeatsNextWrite = false
  readonly #server: Server
  readonly #time: () => number
  readonly #pageSize: number
  readonly #tellsWrites: boolean
  readonly #wantsBareTags: boolean

  private constructor(
    server: Server,
    { time = wallTime, pageSize = 1_000, tellsWrites = false, wantsBareTags = false }: StandInOptions,
  ) {
    this.#server = server
    this.#time = time
    this.#pageSize = pageSize
    this.#tellsWrites = tellsWrites
    this.#wantsBareTags = wantsBareTags
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', (request, response) => void this.#serve(request, response))
  }

  static async start(options: StandInOptions = {}): Promise<StandInS3> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new StandInS3(server, options)
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** Writes an object past all conditions. */
  put(key: string, body: string): StoredObject {
    const etag = `"${createHash('md5').update(body).digest('hex')}"`
    const object = { body, etag, lastModified: this.#seconds() }
    this.objects.set(key, object)
    this.etags.push(etag)
    return object
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #seconds(): number {
    return Math.floor(this.#time() / 1_000) * 1_000
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url)
    const [, bucket, key = ''] = /^\/([^/]*)\/?(.*)$/.exec(decodeURIComponent(url.pathname)) ?? []
    const seen = { method: request.method ?? '', key: key + url.search, headers: request.headers }
    this.requests.push(seen)
    const body = await text(request)
    response.setHeader('date', new Date(this.#seconds()).toUTCString())
    const instead = this.intercept(seen)
    if (instead !== undefined) return fail(response, instead)
    if (bucket !== 'leases') return fail(response, { status: 404, code: 'NoSuchBucket' })
    if (key === '') return void response.end(this.#page(url.searchParams))
    const found = this.objects.get(key)
    const refusal = refusalOf(request, found, this.#wantsBareTags)
    if (refusal !== undefined) return fail(response, refusal)
    const isWrite = request.method === 'PUT'
    if (isWrite && this.repeatsNextWrite) {
      this.repeatsNextWrite = false
      this.put(key, body)
      return fail(response, { status: 412, code: 'PreconditionFailed' })
    }
    const { etag, lastModified, body: content } = isWrite ? this.put(key, body) : (found as StoredObject)
    response.setHeader('etag', etag)
    if (!isWrite || this.#tellsWrites) response.setHeader('last-modified', new Date(lastModified).toUTCString())
    response.setHeader('date', new Date(this.#seconds()).toUTCString())
    response.end(isWrite ? '' : content)
  }

  #page(query: URLSearchParams): string {
    const from = query.get('continuation-token') ?? ''
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > from)
      .sort()
    const page = keys.slice(0, this.#pageSize)
    const next = keys.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    const contents = page.map((key) => `<Contents><Key>${key.replaceAll('&', '&amp;')}</Key></Contents>`)
    return `<?xml version="1.0"?><ListBucketResult>${contents.join('')}${next}</ListBucketResult>`
  }
}

function refusalOf(
  { method, headers }: IncomingMessage,
  found: StoredObject | undefined,
  isBare: boolean,
): Interception | undefined {
  if (method === 'GET') return found === undefined ? { status: 404, code: 'NoSuchKey' } : undefined
  const { 'if-match': etag, 'if-none-match': none } = headers
  if (etag !== undefined && found === undefined) return { status: 404, code: 'NoSuchKey' }
  const isMet =
    (etag === undefined || etag === (isBare ? found?.etag.replaceAll('"', '') : found?.etag)) &&
    (none === undefined || found === undefined)
  return isMet ? undefined : { status: 412, code: 'PreconditionFailed' }
}

function fail(response: ServerResponse, { status, code, message = 'refused', headers = {} }: Interception): void {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(
    code === undefined ? '' : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
  )
}
