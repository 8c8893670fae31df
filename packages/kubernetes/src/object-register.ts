import type { CasEntry, CasRecord, CasRegister, CasWritten, Clock, Grant, Logger } from '@leasehold/core'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import type { ApiRequest } from './api/api-request.js'
import { pathOf } from './api/api-request.js'
import { failureOf, unanswered } from './api/failures.js'
import type { Verb } from './api/role.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'
import type { Layout } from './layouts/layout.js'
import { objectName } from './object-name.js'
import { watchObject } from './object-watch.js'
import { RecentObjects } from './recent-objects.js'
import { decodeEntry, isIntact, newObject, rewritten } from './record-codec.js'
import { RenewalPermission } from './renewal-permission.js'

/** How often a holder asks again whether it may watch its object, in milliseconds; half of it is random. */
const REFUSED_PAUSE = 60_000

/** Where the objects are, and what is said of them. */
export interface ObjectRegisterOptions {
  readonly client: ApiClient
  readonly layout: Layout
  readonly namespace: () => Promise<string>
  /** Whether changes are watched, so that waiters need not poll. */
  readonly watches: boolean
  /** What a recorded duration is cut to, in milliseconds. */
  readonly longest: number
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The objects of one kind in one namespace, as a compare-and-set register by their resourceVersion: one counter for the
 * whole cluster, so that it serves for fencing tokens as well.
 */
export class ObjectRegister implements CasRegister<string> {
  readonly kind = 'kubernetes'
  readonly watch?: NonNullable<CasRegister<string>['watch']>
  readonly #options: ObjectRegisterOptions
  /** A write sends all of an object back, as it was read or written last: what others keep in it has to stay. */
  readonly #recent = new RecentObjects()
  readonly #permission: RenewalPermission
  /** Ends the watches. */
  readonly #closed = new AbortController()

  constructor(options: ObjectRegisterOptions) {
    this.#options = options
    this.#permission = new RenewalPermission(options.client, options.layout)
    if (options.watches) this.watch = (name, signal) => this.#watch(name, signal)
  }

  tokenOf(version: string): bigint {
    return BigInt(version)
  }

  async read(name: string, signal: AbortSignal): Promise<CasEntry<string> | undefined> {
    const object = await this.#get(name, signal)
    return object === undefined ? undefined : this.#decode(name, object)
  }

  async create(name: string, record: CasRecord, signal: AbortSignal): Promise<CasWritten<string> | undefined> {
    const { layout } = this.#options
    const namespace = await this.#options.namespace()
    await this.#permission.require(name, namespace, signal)
    const body = newObject(layout, objectName(name), namespace, record)
    const answer = await this.#send({ method: 'POST', path: pathOf(layout.resource, namespace), body }, signal)
    if (answer.status === 409 && statusOf(answer)?.reason === 'AlreadyExists') return undefined
    if (answer.status !== 201) throw await this.#failureOf(answer, 'create', name)
    return this.#written(name, answer)
  }

  async replace(
    name: string,
    record: CasRecord,
    version: string,
    signal: AbortSignal,
  ): Promise<CasWritten<string> | undefined> {
    const { layout } = this.#options
    const object = this.#recent.get(name, version) ?? (await this.#get(name, signal))
    if (object?.metadata.resourceVersion !== version) return undefined
    const path = pathOf(layout.resource, await this.#options.namespace(), objectName(name))
    const answer = await this.#send({ method: 'PUT', path, body: rewritten(layout, object, record) }, signal)
    if (isConflict(answer)) return undefined
    // 201 cannot be: what is sent back bears a uid, with which the server makes no object anew.
    if (answer.status !== 200) throw await this.#failureOf(answer, 'update', name)
    return this.#written(name, answer)
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#options.client.close()
  }

  /** Yields when the object of a grant is no longer as its holder writes it: see `LeaseStore.watchGrant`. */
  watchGrant(grant: Grant, signal: AbortSignal): AsyncGenerator<undefined> {
    return this.#untilClosed(signal, (ended) => this.#changesOf(grant, ended))
  }

  #watch(name: string, signal: AbortSignal): AsyncGenerator<CasEntry<string> | undefined> {
    return this.#untilClosed(signal, (ended) => this.#entriesOf(name, ended))
  }

  async *#untilClosed<T>(signal: AbortSignal, watch: (ended: AbortSignal) => AsyncGenerator<T>): AsyncGenerator<T> {
    const ended = new AbortController()
    const end = (): void => ended.abort()
    for (const by of [signal, this.#closed.signal]) by.addEventListener('abort', end)
    if (signal.aborted || this.#closed.signal.aborted) end()
    try {
      yield* watch(ended.signal)
    } finally {
      for (const by of [signal, this.#closed.signal]) by.removeEventListener('abort', end)
    }
  }

  async *#changesOf(grant: Grant, signal: AbortSignal): AsyncGenerator<undefined> {
    const { client, layout } = this.#options
    // The token is the version of the write that granted the lease: nothing after it is missed. Within the ttl, the
    // holder's own heartbeats show that the stream is alive.
    const from = String(grant.fencingToken)
    while (!signal.aborted) {
      try {
        for await (const object of this.#objectsOf(grant.name, from, signal, grant.ttl)) {
          if (object === undefined || !isIntact(layout, object, grant)) yield undefined
        }
      } catch {
        // The permission is missing, or the token has expired: the heartbeats do without, and report what is wrong.
      }
      try {
        await client.pause(REFUSED_PAUSE * (0.5 + 0.5 * Math.random()), signal)
      } catch {
        return
      }
    }
  }

  async *#entriesOf(name: string, signal: AbortSignal): AsyncGenerator<CasEntry<string> | undefined> {
    for await (const object of this.#objectsOf(name, this.#recent.versionOf(name), signal)) {
      yield object === undefined ? undefined : this.#decode(name, object)
    }
  }

  async *#objectsOf(
    name: string,
    from: string | undefined,
    signal: AbortSignal,
    silence?: number,
  ): AsyncGenerator<KubernetesObject | undefined> {
    const { client, clock, layout } = this.#options
    const namespace = await this.#options.namespace()
    const path = pathOf(layout.resource, namespace)
    const refusal = (answer: ApiAnswer): Error => failureOf(answer, this.#attempt('watch', namespace, name))
    const watched = { client, clock, path, name: objectName(name), from, failureOf: refusal }
    yield* watchObject(silence === undefined ? watched : { ...watched, silence }, signal)
  }

  async #get(name: string, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const path = pathOf(this.#options.layout.resource, await this.#options.namespace(), objectName(name))
    const answer = await this.#send({ method: 'GET', path }, signal)
    if (isMissingObject(answer)) return undefined
    if (answer.status !== 200) throw await this.#failureOf(answer, 'get', name)
    return this.#objectIn(name, answer)
  }

  async #send(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    return await this.#options.client.send(request, signal)
  }

  #written(name: string, answer: ApiAnswer): CasWritten<string> {
    return { version: this.#objectIn(name, answer).metadata.resourceVersion }
  }

  #objectIn(name: string, { body, text }: ApiAnswer): KubernetesObject {
    if (!isKubernetesObject(body)) throw unanswered(new Error(`what came is no object: ${text.slice(0, 300)}`))
    this.#recent.keep(name, body)
    return body
  }

  #decode(name: string, object: KubernetesObject): CasEntry<string> {
    const { layout, longest, logger } = this.#options
    const entry = decodeEntry(layout, object)
    const { owner, vacated } = entry.record
    const odd = owner === '' ? [] : [...layout.odditiesOf(object.spec ?? {}, longest)]
    if (vacated === true) odd.push('another program removed its holder, which had not released it')
    if (odd.length > 0 && this.#recent.isNewly(name, odd.join())) {
      logger.warn(
        `the record of lease '${name}' is odd: ${odd.join(', ')}. Challengers wait at most ${longest} ms for it`,
      )
    }
    return entry
  }

  async #failureOf(answer: ApiAnswer, verb: Verb, name: string): Promise<Error> {
    return failureOf(answer, this.#attempt(verb, await this.#options.namespace(), name))
  }

  #attempt(verb: Verb, namespace: string, leaseName: string) {
    const { resource, manifest } = this.#options.layout
    return { verb, resource, manifest, namespace, leaseName }
  }
}

/** Another version, another uid, or no object any more. A server before 1.25 calls a version that is missing invalid. */
function isConflict(answer: ApiAnswer): boolean {
  if (answer.status === 409 || isMissingObject(answer)) return true
  const causes = answer.status === 422 ? (statusOf(answer)?.details?.causes ?? []) : []
  return causes.some(({ field }) => field === 'metadata.resourceVersion')
}

/** Where the kind is not known, or there is a stranger in front of the server, the body is no `Status`. */
function isMissingObject(answer: ApiAnswer): boolean {
  const status = answer.status === 404 ? statusOf(answer) : undefined
  return status?.reason === 'NotFound' && status.details?.kind !== 'namespaces'
}
