import type { Clock, Grant, Logger } from '@leasehold/core'
import { shownText } from '@leasehold/core/internal'
import {
  AbortableCall,
  type CasEntry,
  type CasRecord,
  type CasRegister,
  type CasWritten,
  type StoreCall,
} from '@leasehold/core/store'
import { backoff, RecentMap } from '@leasehold/core/store-kit'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import type { ApiClient } from './api/api-client.js'
import { pathOf } from './api/api-request.js'
import type { Verb } from './api/role.js'
import { failureOf, unanswered } from './failure-of.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'
import type { Layout } from './layouts/layout.js'
import type { LeaseAccess } from './lease-access.js'
import { listObjects } from './object-list.js'
import { leaseNameOf, objectName } from './object-name.js'
import { firstManager, managerOver, writtenAt } from './object-times.js'
import { watchObject } from './object-watch.js'
import { decodeEntry, isIntact, newObject, rewritten } from './record-codec.js'

/** The largest number of objects that are kept. A heartbeat without its object needs a read. */
const MOST = 10_000

/** The pause before a holder tries again to watch its object, in milliseconds; half of it is random. */
const REFUSED_PAUSE = 60_000

export interface ObjectRegisterOptions {
  readonly client: ApiClient
  readonly access: LeaseAccess
  readonly layout: Layout
  /** Whether to watch objects, so that waiters need not poll. */
  readonly watches: boolean
  /** The longest duration of a record; longer ones count as this. In milliseconds. */
  readonly longest: number
  /** See `CasRegister.clockError`. In milliseconds. */
  readonly clockError: number | undefined
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
}

/**
 * The objects of one kind in one namespace, as a compare-and-set register by resourceVersion. That is one counter for the
 * whole cluster, so the fencing tokens are versions.
 */
export class ObjectRegister implements CasRegister<string> {
  readonly kind = 'kubernetes'
  readonly losesTokens: boolean
  readonly clockError?: number
  readonly watch?: NonNullable<CasRegister<string>['watch']>
  readonly #options: ObjectRegisterOptions
  /** A write sends the whole object as last read or written, to keep the fields of other programs. */
  readonly #recent = new RecentMap<KubernetesObject>(MOST)
  /** The last warning for each name. */
  readonly #warnings = new RecentMap<string>(MOST)
  readonly #closed = new AbortableCall()

  constructor(options: ObjectRegisterOptions) {
    this.#options = options
    this.losesTokens = options.layout.losesAnnotations
    if (options.clockError !== undefined) this.clockError = options.clockError
    if (options.watches) {
      this.watch = (name, call) => this.#untilClosed(call, (ended) => this.#entriesOf(name, ended))
    }
  }

  tokenOf(version: string): bigint {
    return BigInt(version)
  }

  async read(name: string, call: StoreCall): Promise<CasEntry<string> | undefined> {
    const answer = await this.#get(name, call)
    return answer === undefined ? undefined : this.#decode(name, answer.object, answer.date)
  }

  async create(name: string, record: CasRecord, call: StoreCall): Promise<CasWritten<string> | undefined> {
    const { client, access, layout } = this.#options
    await access.requireRenewal(name, call)
    const namespace = await client.namespace()
    const body = newObject(layout, name, namespace, record)
    const path = pathOf(layout.resource, namespace)
    const answer = await client.send({ method: 'POST', path, query: { fieldManager: firstManager }, body }, call)
    if (answer.status === 409 && statusOf(answer)?.reason === 'AlreadyExists') return undefined
    if (answer.status !== 201) throw await this.#failureOf(answer, 'create', name)
    return this.#written(name, answer)
  }

  async replace(
    name: string,
    record: CasRecord,
    version: string,
    call: StoreCall,
  ): Promise<CasWritten<string> | undefined> {
    const { client, layout } = this.#options
    let object = this.#recent.get(name)
    if (object?.metadata.resourceVersion !== version) object = (await this.#get(name, call))?.object
    if (object?.metadata.resourceVersion !== version) return undefined
    const path = await this.#pathOf(name)
    const query = { fieldManager: managerOver(object, layout.heartbeatField) }
    const body = rewritten(layout, name, object, record)
    const answer = await client.send({ method: 'PUT', path, query, body }, call)
    if (isConflict(answer)) return undefined
    // Never 201: the server does not create an object that is sent with a uid.
    if (answer.status !== 200) throw await this.#failureOf(answer, 'update', name)
    return this.#written(name, answer)
  }

  /** Yields all leases of the namespace that start with the prefix: the API has no selector for prefixes of names. */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<CasEntry<string> & { readonly name: string }> {
    const { client, layout } = this.#options
    const refusal = (answer: ApiAnswer): Promise<Error> => this.#failureOf(answer, 'list')
    for await (const { object, date } of listObjects(client, await this.#pathOf(), refusal, call)) {
      const name = leaseNameOf(object)
      if (name?.startsWith(prefix) === true)
        yield { name, ...decodeEntry(layout, object), ...this.#timesOf(object, date) }
    }
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#options.client.close()
  }

  /** Yields when the object of a grant differs from what its holder wrote: see `LeaseStore.watchGrant`. */
  watchGrant(grant: Grant, call: StoreCall): AsyncGenerator<undefined> {
    return this.#untilClosed(call, (ended) => this.#changesOf(grant, ended))
  }

  async *#untilClosed<T>(call: StoreCall, watch: (ended: StoreCall) => AsyncGenerator<T>): AsyncGenerator<T> {
    const ended = new AbortableCall()
    const removers = [call, this.#closed].map((by) => by.onAbort(() => ended.abort()))
    try {
      yield* watch(ended)
    } finally {
      for (const remove of removers) remove()
    }
  }

  async *#changesOf(grant: Grant, call: StoreCall): AsyncGenerator<undefined> {
    const { client, layout, random } = this.#options
    // The token is the version of the write that granted the lease, so no later change is missed. Within the ttl, the
    // holder's own heartbeats show that the stream is alive. A token that was raised is no version yet: the server would
    // wait for it. The watch then starts with the current object.
    const { resourceVersion } = this.#recent.get(grant.name)?.metadata ?? {}
    const isRaised = resourceVersion !== undefined && grant.fencingToken > BigInt(resourceVersion)
    const from = isRaised ? undefined : String(grant.fencingToken)
    while (!call.aborted) {
      try {
        for await (const object of this.#objectsOf(grant.name, from, call, grant.ttl)) {
          if (object === undefined || !isIntact(layout, object, grant)) yield undefined
        }
      } catch {
        // If the permission is missing, or the token has expired, heartbeats find changes and report errors.
      }
      await client.pause(backoff(0, REFUSED_PAUSE, REFUSED_PAUSE, random), call).catch(() => {})
    }
  }

  async *#entriesOf(name: string, call: StoreCall): AsyncGenerator<CasEntry<string> | undefined> {
    for await (const object of this.#objectsOf(name, this.#recent.get(name)?.metadata.resourceVersion, call)) {
      yield object === undefined ? undefined : this.#decode(name, object)
    }
  }

  async *#objectsOf(
    name: string,
    from: string | undefined,
    call: StoreCall,
    silence?: number,
  ): AsyncGenerator<KubernetesObject | undefined> {
    const { client, clock, random } = this.#options
    const refusal = (answer: ApiAnswer): Promise<Error> => this.#failureOf(answer, 'watch', name)
    const path = await this.#pathOf()
    yield* watchObject({ client, clock, random, path, name: objectName(name), from, silence, failureOf: refusal }, call)
  }

  async #get(
    name: string,
    call: StoreCall,
  ): Promise<{ readonly object: KubernetesObject; readonly date: number | undefined } | undefined> {
    const answer = await this.#options.client.send({ method: 'GET', path: await this.#pathOf(name) }, call)
    if (isMissingObject(answer)) return undefined
    if (answer.status !== 200) throw await this.#failureOf(answer, 'get', name)
    return { object: this.#objectIn(name, answer), date: answer.date }
  }

  /** The path of all objects, or of that of a lease. */
  async #pathOf(leaseName?: string): Promise<string> {
    const { client, layout } = this.#options
    return pathOf(layout.resource, await client.namespace(), leaseName && objectName(leaseName))
  }

  #written(name: string, answer: ApiAnswer): CasWritten<string> {
    return { version: this.#objectIn(name, answer).metadata.resourceVersion }
  }

  #objectIn(name: string, { body, text }: ApiAnswer): KubernetesObject {
    if (!isKubernetesObject(body)) throw unanswered(new Error(`the answer is not an object: ${text.slice(0, 300)}`))
    this.#recent.set(name, body)
    return body
  }

  /** Both by the clocks of API servers: that of the answer, and that of the last write. */
  #timesOf(object: KubernetesObject, date: number | undefined): Pick<CasEntry<string>, 'readAt' | 'writtenAt'> {
    const written = writtenAt(object, this.#options.layout.heartbeatField)
    return date === undefined || written === undefined ? {} : { readAt: date, writtenAt: written }
  }

  #decode(name: string, object: KubernetesObject, date?: number): CasEntry<string> {
    const { layout, longest, logger } = this.#options
    const entry = decodeEntry(layout, object)
    const { owner, grantId, displaced } = entry.record
    const isVacated = displaced?.grantId === grantId
    const odd = owner === '' ? [] : [...layout.odditiesOf(object.spec ?? {}, longest)]
    if (isVacated) odd.push('another program removed the holder before it released the lease')
    if (odd.length > 0 && this.#warnings.get(name) !== odd.join()) {
      this.#warnings.set(name, odd.join())
      logger.warn(
        shownText(
          `the record of lease '${name}' is unusual: ${odd.join(', ')}. Challengers wait at most ${longest} ms for it`,
        ),
      )
    }
    return { ...entry, ...this.#timesOf(object, date) }
  }

  async #failureOf(answer: ApiAnswer, verb: Verb, leaseName?: string): Promise<Error> {
    const { client, layout } = this.#options
    return failureOf(answer, { verb, resource: layout.resource, namespace: await client.namespace(), leaseName })
  }
}

/** Whether the object has another version or uid, or is missing. Before 1.25, a missing version is reported as invalid. */
function isConflict(answer: ApiAnswer): boolean {
  if (answer.status === 409 || isMissingObject(answer)) return true
  const causes = answer.status === 422 ? (statusOf(answer)?.details?.causes ?? []) : []
  return causes.some(({ field }) => field === 'metadata.resourceVersion')
}

/** A 404 without a `Status` is from a proxy, or says that the kind is unknown. */
function isMissingObject(answer: ApiAnswer): boolean {
  const status = answer.status === 404 ? statusOf(answer) : undefined
  return status?.reason === 'NotFound' && status.details?.kind !== 'namespaces'
}
