import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { certificate } from '@leasehold/testing'
import { isKubernetesObject, type KubernetesObject } from '../../src/kubernetes-object.js'

/** Headers that are not passed on. */
const ofOneConnection = new Set(['connection', 'content-length', 'transfer-encoding', 'accept-encoding'])

/** Which object a release replaces: the one that its sender knows, or the one that is there when it is let go. */
type Replaced = 'known' | 'present'

interface HeldRelease {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly object: KubernetesObject
  readonly answer: (status: number, body: string) => void
}

/**
 * An HTTPS server before an API server. It passes on everything, but holds back releases when a test asks for it: the writes of an
 * empty holder. So a release arrives as late as the test wants, even after its sender has given it up.
 */
export class ReleaseGate {
  readonly port: number
  readonly #server: Server
  readonly #target: number
  #isShut = false
  readonly #held: HeldRelease[] = []
  #passed = 0
  readonly #wake: (() => void)[] = []

  private constructor(server: Server, target: number) {
    this.port = (server.address() as AddressInfo).port
    this.#server = server
    this.#target = target
    server.on(
      'request',
      (from: IncomingMessage, to: ServerResponse) => void this.#serve(from, to).catch(() => to.destroy()),
    )
  }

  static async before({ port }: { readonly port: number }): Promise<ReleaseGate> {
    const server = createServer(await certificate()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new ReleaseGate(server, port)
  }

  /** Releases that come from now on are held back. */
  shut(): void {
    this.#isShut = true
  }

  /** Resolves when a release is held back. */
  async holdsOne(): Promise<void> {
    while (this.#held.length === 0) await this.#change()
  }

  /** Resolves when the server has answered another write. */
  async passesOne(): Promise<void> {
    for (const passed = this.#passed; this.#passed === passed; ) await this.#change()
  }

  /**
   * Sends the releases that were held back to the server, in order, and resolves with the status of each answer. `present`: a
   * release is sent as versions of client-go send it that read the object first: over what they have just read.
   */
  async letGo(replaced: Replaced = 'known'): Promise<number[]> {
    this.#isShut = false
    const statuses: number[] = []
    for (const release of this.#held.splice(0)) {
      const { path, headers, object, answer } = release
      const write = async (sent: KubernetesObject) => {
        const response = await this.#send('PUT', path, headers, JSON.stringify(sent))
        return { status: response.statusCode ?? 0, body: await text(response) }
      }
      let answered = await write(replaced === 'known' ? object : await this.#overPresent(release))
      // A heartbeat came between the read and the write. The newest client-go then reads again:
      // https://github.com/kubernetes/kubernetes/pull/137988.
      while (replaced === 'present' && answered.status === 409) answered = await write(await this.#overPresent(release))
      statuses.push(answered.status)
      answer(answered.status, answered.body)
    }
    return statuses
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = from
    const body = await text(from)
    const object: unknown = method === 'PUT' ? JSON.parse(body) : undefined
    if (this.#isShut && isKubernetesObject(object) && object.spec?.holderIdentity === '') {
      const answer = (status: number, answered: string) => void to.writeHead(status).end(answered)
      this.#held.push({ path, headers, object, answer })
      this.#changed()
      return
    }
    const response = await this.#send(method, path, headers, body)
    to.writeHead(response.statusCode ?? 502, response.headers)
    // A watch ends when its client goes, or its server.
    await pipeline(response, to)
    if (method === 'PUT') {
      this.#passed += 1
      this.#changed()
    }
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => this.#wake.push(resolve))
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  /** The release, with the version and the transitions of the object that is there now. */
  async #overPresent({ path, headers, object }: HeldRelease): Promise<KubernetesObject> {
    const { pathname } = new URL(path, 'https://127.0.0.1')
    const present: unknown = JSON.parse(await text(await this.#send('GET', pathname, headers, '')))
    if (!isKubernetesObject(present)) throw new Error('no Lease was read')
    return { ...present, spec: { ...object.spec, leaseTransitions: present.spec?.leaseTransitions } }
  }

  async #send(method: string, path: string, headers: IncomingHttpHeaders, body: string): Promise<IncomingMessage> {
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !ofOneConnection.has(name)))
    const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) }
    const place = { host: '127.0.0.1', port: this.#target, rejectUnauthorized: false }
    return await new Promise((resolve, reject) => {
      const sent = request({ ...place, method, path, headers: { ...kept, ...length } }, resolve)
      sent.on('error', reject)
      sent.end(body)
    })
  }
}
