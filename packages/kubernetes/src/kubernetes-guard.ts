import { checkFencingToken, LeaseConfigurationError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import { pathOf } from './api/api-request.js'
import { failureOf } from './api/failures.js'
import type { Verb } from './api/role.js'
import { Cluster } from './cluster.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'
import type { KubernetesClusterOptions } from './kubernetes-options.js'

/** The annotation in which a guarded object keeps the largest token that it was written under. */
const TOKEN_ANNOTATION = 'leasehold.dev/fencing-token'

/** How often a write that lost a race against another writer is begun anew. */
const ROUNDS = 10

/** Which object is written. */
export interface GuardedObject {
  /** Such as `v1` or `apps/v1`. */
  readonly apiVersion: string
  /** The plural, as in the API's addresses: `configmaps`. */
  readonly resource: string
  readonly name: string
  /** That of the guard unless given. */
  readonly namespace?: string
}

/**
 * Writes objects of the cluster under fencing tokens: a holder that has lost its lease without knowing changes nothing.
 * For everything else, show the token to the resource itself.
 */
export class KubernetesGuard {
  readonly #cluster: Cluster

  constructor(options: KubernetesClusterOptions = {}) {
    this.#cluster = new Cluster(options)
  }

  /**
   * Writes what `change` makes of the object, conditional on the version that it was given, and resolves with the object
   * as it then stands. `change` may be called again where somebody else has written the object in between.
   *
   * Rejects with a `LeaseLostError` when the object was written under a larger token, and then changes nothing; with a
   * `LeaseConfigurationError` where there is no such object; otherwise as a store does. Who reads the object before, to
   * decide on the write, does so within `change`. `signal` is the time limit: without one, the server is waited for.
   */
  async update(
    guarded: GuardedObject,
    fencingToken: bigint,
    change: (object: KubernetesObject) => Record<string, unknown>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<KubernetesObject> {
    checkFencingToken(fencingToken, { store: 'kubernetes' })
    const path = await this.#pathOf(guarded)
    for (let round = 0; round < ROUNDS; round += 1) {
      const object = await this.#objectIn(guarded, 'get', await this.#send('GET', path, undefined, signal))
      checkToken(guarded, object, fencingToken)
      const body = stamped(object, change(object), fencingToken)
      const answer = await this.#send('PUT', path, body, signal)
      if (answer.status !== 409) return await this.#objectIn(guarded, 'update', answer)
    }
    throw new LeaseUnavailableError(
      `${guarded.resource} '${guarded.name}' was written by others ${ROUNDS} times in a row: try again`,
      { store: 'kubernetes' },
    )
  }

  /** Ends its connections. */
  async close(): Promise<void> {
    this.#cluster.client.close()
  }

  async #send(
    method: 'GET' | 'PUT',
    path: string,
    body: Record<string, unknown> | undefined,
    signal: AbortSignal,
  ): Promise<ApiAnswer> {
    return await this.#cluster.client.send({ method, path, ...(body === undefined ? {} : { body }) }, signal)
  }

  async #pathOf({ apiVersion, resource, name, namespace }: GuardedObject): Promise<string> {
    return pathOf(toResource(apiVersion, resource), namespace ?? (await this.#cluster.namespace()), name)
  }

  async #objectIn(guarded: GuardedObject, verb: Verb, answer: ApiAnswer): Promise<KubernetesObject> {
    if (answer.status === 200 && isKubernetesObject(answer.body)) return answer.body
    const { apiVersion, resource, name } = guarded
    if (answer.status === 404 && statusOf(answer) !== undefined) {
      throw new LeaseConfigurationError(`there is no ${resource} '${name}' to write: make it first`, {
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
    const what = `the annotation ${TOKEN_ANNOTATION} of ${resource} '${name}' is no token: ${seen}`
    throw new LeaseConfigurationError(`${what}. Repair or remove it`, { store: 'kubernetes' })
  }
  if (BigInt(seen) <= fencingToken) return
  throw new LeaseLostError(
    `the fencing token ${fencingToken} for ${resource} '${name}' is behind ${seen}: another holds the lease now`,
    { store: 'kubernetes', reason: 'taken' },
  )
}

/** What was changed, with the token; its version and uid are those that were read, whatever was made of them. */
function stamped(read: KubernetesObject, changed: Record<string, unknown>, token: bigint): Record<string, unknown> {
  const { name, namespace, uid, resourceVersion } = read.metadata
  const metadata = (changed.metadata ?? {}) as Partial<KubernetesObject['metadata']>
  const annotations = { ...metadata.annotations, [TOKEN_ANNOTATION]: String(token) }
  return { ...changed, metadata: { ...metadata, name, namespace, uid, resourceVersion, annotations } }
}
