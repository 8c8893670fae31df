import { LeaseConfigurationError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall, AbortListeners, checkFence, checkFencingToken, type StoreCall } from '@leasehold/core/store'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import { pathOf } from './api/api-request.js'
import type { Verb } from './api/role.js'
import { Cluster } from './cluster.js'
import { failureOf } from './failure-of.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'
import type { KubernetesClusterOptions } from './kubernetes-options.js'

/** The annotation with the largest token under which an object was written. */
const TOKEN_ANNOTATION = 'leasehold.dev/fencing-token'

/** How often a write is tried when other writers are faster. */
const ROUNDS = 10

/** The object to write. */
export interface GuardedObject {
  /** Such as `v1` or `apps/v1`. */
  readonly apiVersion: string
  /** The plural, as in the paths of the API: `configmaps`. */
  readonly resource: string
  readonly name: string
  /** The namespace of the guard unless given. */
  readonly namespace?: string
}

/**
 * Writes objects of the cluster under fencing tokens: rejects the write of a holder that has lost its lease without
 * noticing. Other resources have to check the token themselves.
 */
export class KubernetesGuard {
  readonly #cluster: Cluster
  readonly #aborts = new AbortListeners()

  constructor(options: KubernetesClusterOptions = {}) {
    this.#cluster = new Cluster(options)
  }

  /**
   * Reads the object, passes it to `change`, and writes the result, conditional on the version that was read. Resolves with
   * the written object. Calls `change` again when another writer was faster. Read the object only within `change` to decide
   * on the write.
   *
   * Rejects with a `LeaseLostError`, and writes nothing, when the object was written under a larger token; with a
   * `LeaseConfigurationError` when the object does not exist; otherwise as a store does. `signal` is the time limit; there
   * is none unless given.
   */
  async update(
    guarded: GuardedObject,
    fencingToken: bigint,
    change: (object: KubernetesObject) => Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<KubernetesObject> {
    checkFencingToken(fencingToken, { store: 'kubernetes' })
    const call = new AbortableCall()
    const unlisten = signal && this.#aborts.add(signal, () => call.abort(signal.reason))
    try {
      return await this.#inRounds(guarded, fencingToken, change, call)
    } finally {
      unlisten?.()
    }
  }

  /** Ends its connections. */
  async close(): Promise<void> {
    this.#cluster.client.close()
  }

  async #inRounds(
    guarded: GuardedObject,
    fencingToken: bigint,
    change: (object: KubernetesObject) => Record<string, unknown>,
    call: StoreCall,
  ): Promise<KubernetesObject> {
    const path = await this.#pathOf(guarded)
    for (let round = 0; round < ROUNDS; round += 1) {
      const object = await this.#objectIn(guarded, 'get', await this.#send('GET', path, undefined, call))
      checkToken(guarded, object, fencingToken)
      const body = stamped(object, change(object), fencingToken)
      const answer = await this.#send('PUT', path, body, call)
      if (answer.status !== 409) return await this.#objectIn(guarded, 'update', answer)
    }
    throw new LeaseUnavailableError(
      `${guarded.resource} '${guarded.name}' was written by others ${ROUNDS} times in a row: try again`,
      { store: 'kubernetes' },
    )
  }

  async #send(
    method: 'GET' | 'PUT',
    path: string,
    body: Record<string, unknown> | undefined,
    call: StoreCall,
  ): Promise<ApiAnswer> {
    return await this.#cluster.client.send({ method, path, ...(body === undefined ? {} : { body }) }, call)
  }

  async #pathOf({ apiVersion, resource, name, namespace }: GuardedObject): Promise<string> {
    return pathOf(toResource(apiVersion, resource), namespace ?? (await this.#cluster.namespace()), name)
  }

  async #objectIn(guarded: GuardedObject, verb: Verb, answer: ApiAnswer): Promise<KubernetesObject> {
    if (answer.status === 200 && isKubernetesObject(answer.body)) return answer.body
    const { apiVersion, resource, name } = guarded
    if (answer.status === 404 && statusOf(answer) !== undefined) {
      throw new LeaseConfigurationError(`${resource} '${name}' does not exist: create it first`, {
        store: 'kubernetes',
        cause: answer,
      })
    }
    const namespace = guarded.namespace ?? (await this.#cluster.namespace())
    throw failureOf(answer, { verb, resource: toResource(apiVersion, resource), namespace, needed: ['get', 'update'] })
  }
}

function toResource(apiVersion: string, plural: string): { group: string; version: string; plural: string } {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return { group, version, plural }
}

function checkToken({ resource, name }: GuardedObject, { metadata }: KubernetesObject, fencingToken: bigint): void {
  const seen = metadata.annotations?.[TOKEN_ANNOTATION]
  if (seen === undefined) return
  if (!/^\d+$/.test(seen)) {
    throw new LeaseConfigurationError(
      `the annotation ${TOKEN_ANNOTATION} of ${resource} '${name}' is not a token: ${seen}. Repair or remove it`,
      { store: 'kubernetes' },
    )
  }
  checkFence(`${resource}/${name}`, fencingToken, BigInt(seen), 'kubernetes')
}

/** The changed object with the token. Version and uid stay those that were read, even if `change` replaced them. */
function stamped(read: KubernetesObject, changed: Record<string, unknown>, token: bigint): Record<string, unknown> {
  const { name, namespace, uid, resourceVersion } = read.metadata
  const metadata = (changed.metadata ?? {}) as Partial<KubernetesObject['metadata']>
  const annotations = { ...metadata.annotations, [TOKEN_ANNOTATION]: String(token) }
  return { ...changed, metadata: { ...metadata, name, namespace, uid, resourceVersion, annotations } }
}
