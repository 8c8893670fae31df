import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { wallTime } from '@leasehold/core/store-kit'
import { certificate } from '@leasehold/testing'
import { type Access, reviewOf, verbOf } from './access.js'
import { ObjectStore } from './object-store.js'
import { keyOf, Operations } from './operations.js'
import { forbidden, type Kind, type Place, type Reply, unauthorized, unknownPath } from './status.js'
import type { SentObject } from './validation.js'
import { serveWatch } from './watching.js'

/** A request as the server has seen it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly token: string | undefined
  /** The program in the `User-Agent`: the field manager of its writes, unless it names one. */
  readonly agent: string
  readonly body: SentObject
}

/** The handling of a request instead of the usual one, or after it was `applied`. */
export type Disturbance =
  | { readonly reply: Reply; readonly applied?: boolean }
  | { readonly drop: true; readonly applied?: boolean }
  | { readonly delay: Promise<unknown> }

export const leases: Kind = { group: 'coordination.k8s.io', plural: 'leases', kind: 'Lease', custom: false }
export const akkaLeases: Kind = { group: 'akka.io', plural: 'leases', kind: 'Lease', custom: true }
export const pekkoLeases: Kind = { group: 'pekko.apache.org', plural: 'leases', kind: 'Lease', custom: true }
export const configMaps: Kind = { group: '', plural: 'configmaps', kind: 'ConfigMap', custom: false }

const ADDRESS = /^\/apis?\/(?:([^/]+)\/)?v1\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/

/**
 * An API server in memory, over HTTPS. It answers as real ones have been seen to, odd cases included: a PUT makes a Lease
 * that is missing, one that changes nothing keeps its version, a kind that is not installed is answered in plain text.
 */
export class TestApiServer {
  readonly store = new ObjectStore()
  readonly namespaces = new Set(['default'])
  readonly kinds = new Set<Kind>([leases, akkaLeases, pekkoLeases, configMaps])
  /** The access of each token. */
  readonly tokens = new Map<string, Access>([['admin', 'everything']])
  /** All that was asked for, in order. */
  readonly requests: SeenRequest[] = []
  /** The status of each answer, in order. */
  readonly answered: number[] = []
  /** Asked of each request. */
  disturb: (request: SeenRequest) => Disturbance | undefined = () => undefined
  /** Its clock, in milliseconds since 1970. */
  now: () => number = wallTime
  readonly #operations = new Operations(this.store, this.namespaces, () => this.now())
  readonly #server: Server
  /** The port to come back to. */
  #away = 0
  readonly #sockets = new Set<Duplex>()
  /** The watches, each with the function that ends it in good order. */
  readonly #watches = new Map<ServerResponse, () => void>()

  private constructor(server: Server) {
    this.#server = server
    server.on('request', (request, response) => void this.#serve(request, response))
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  static async start(port = 0): Promise<TestApiServer> {
    const server = createServer(await certificate())
    const started = new TestApiServer(server)
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return started
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** How many connections there are. */
  get connections(): number {
    return this.#sockets.size
  }

  /** How many watches there are. */
  get watching(): number {
    return this.#watches.size
  }

  /** Ends every watch in good order, as the server does when its time is over. */
  endWatches(): void {
    for (const end of this.#watches.values()) end()
  }

  /** Breaks every watch off, without an orderly end. */
  breakWatches(): void {
    for (const response of this.#watches.keys()) response.destroy()
  }

  /** Closes all connections, as the server closes idle ones. */
  closeConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Refuses connections from now on. The objects stay. */
  async goAway(): Promise<void> {
    this.#away = this.port
    await this.stop()
  }

  async comeBack(): Promise<void> {
    this.#server.listen(this.#away, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.closeConnections()
    await closed
  }

  /** Writes and deletions of operators and other programs. */
  get(kind: Kind, name: string, namespace = 'default') {
    return this.store.get(keyOf({ kind, name, namespace }))
  }

  /** Writes whatever a test wants to be there, valid or not. */
  plant(kind: Kind, name: string, content: { metadata?: object; spec?: object; [field: string]: unknown }): void {
    const place = { kind, name, namespace: 'default' }
    const apiVersion = kind.group === '' ? 'v1' : `${kind.group}/v1`
    const metadata = { ...content.metadata, name, namespace: place.namespace }
    this.store.put(keyOf(place), { spec: {}, ...content, apiVersion, kind: kind.kind, metadata } as never)
  }

  remove(kind: Kind, name: string, namespace = 'default'): void {
    this.store.delete(keyOf({ kind, name, namespace }))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? '/', 'https://server')
      const sent = await text(request)
      const seen: SeenRequest = {
        method: request.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        token: request.headers.authorization?.replace(/^Bearer /, ''),
        agent: request.headers['user-agent']?.split('/')[0] ?? 'unknown',
        body: sent === '' ? {} : JSON.parse(sent),
      }
      this.requests.push(seen)
      const disturbance = this.disturb(seen)
      if (disturbance === undefined) return this.#answer(seen, response)
      if ('delay' in disturbance) {
        await disturbance.delay
        return this.#answer(seen, response)
      }
      if (disturbance.applied === true) this.#replyTo(seen)
      if ('drop' in disturbance) return void request.socket.destroy()
      this.#write(response, disturbance.reply)
    } catch {
      response.destroy()
    }
  }

  #answer(seen: SeenRequest, response: ServerResponse): void {
    const reply = this.#replyTo(seen)
    this.answered.push(reply?.status ?? 200)
    if (reply === undefined) this.#watch(seen, response)
    else this.#write(response, reply)
  }

  #watch(seen: SeenRequest, response: ServerResponse): void {
    const place = this.#placeOf(seen) as Place
    const prefix = keyOf({ ...place, name: '' })
    const selected = /^metadata\.name=(.+)$/.exec(seen.query.get('fieldSelector') ?? '')?.[1]
    response.on('close', () => this.#watches.delete(response))
    const matches = (key: string): boolean =>
      selected === undefined ? key.startsWith(prefix) : key === prefix + selected
    const from = seen.query.get('resourceVersion') ?? undefined
    const seconds = Number(seen.query.get('timeoutSeconds') ?? 1_800)
    const bookmarks = seen.query.get('allowWatchBookmarks') === 'true'
    this.#watches.set(response, serveWatch(this.store, { matches, from, seconds, bookmarks }, response))
  }

  /** `undefined`: a watch, which is no single reply. */
  #replyTo(seen: SeenRequest): Reply | undefined {
    const access = seen.token === undefined ? undefined : this.tokens.get(seen.token)
    if (access === undefined) return unauthorized
    if (seen.path === '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews') return reviewOf(access, seen.body)
    const place = this.#placeOf(seen)
    if (place === undefined) return unknownPath
    const before = this.get(place.kind, place.name, place.namespace)
    const verb = verbOf(seen, before !== undefined || place.kind.custom, place.name !== '')
    if (access !== 'everything' && !access.includes(verb)) return forbidden(place, `user of ${seen.token}`, verb)
    switch (verb) {
      case 'watch':
        return undefined
      case 'get':
        return this.#operations.get(place)
      case 'list':
        return this.#operations.list(place, seen.query)
      case 'delete':
        return this.#operations.delete(place)
      default: {
        const { method, body, query } = seen
        const manager = query.get('fieldManager') ?? seen.agent
        return method === 'PUT'
          ? this.#operations.put(place, body, manager)
          : this.#operations.post(place, body, query.get('dryRun') === 'All', manager)
      }
    }
  }

  #write(response: ServerResponse, { status, body, headers = {} }: Reply): void {
    const isText = typeof body === 'string'
    const date = new Date(this.now()).toUTCString()
    response.writeHead(status, { date, 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
    response.end(isText ? body : JSON.stringify(body))
  }

  #placeOf({ path, body }: SeenRequest): Place | undefined {
    const [, group = '', namespace = '', plural, named] = ADDRESS.exec(path) ?? []
    const kind = [...this.kinds].find((known) => known.group === group && known.plural === plural)
    return kind && { kind, namespace, name: decodeURIComponent(named ?? body.metadata?.name ?? '') }
  }
}
