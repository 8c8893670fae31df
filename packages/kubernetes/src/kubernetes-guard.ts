import { Fence, type FencingGuard, type GuardOptions, type StoreCall } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, inRounds } from '@leasehold/core/store-kit'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import { ApiClient } from './api/api-client.js'
import { type ApiResource, pathOf } from './api/api-request.js'
import { type FailedRequest, failureOf, misconfigured } from './failure-of.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'
import { checkNoKubeConfig, clusterOptionNames, type KubernetesClusterOptions } from './kubernetes-options.js'

/** The annotation with the largest token under which an object was written. */
const TOKEN_ANNOTATION = 'leasehold.dev/fencing-token'

/** How often a write is tried when other writers are faster. */
const ROUNDS = 10

/** The path of an object, as in the API, without `/api` or `/apis`; the namespace may be left out. */
const PATH =
  /^(?:(?<group>[^/]+)\/)?(?<version>v\d\w*)\/(?:namespaces\/(?<namespace>[^/]+)\/)?(?<plural>[^/]+)\/(?<name>[^/]+)$/

/** An object as a write replaces it: the fields that are not given stay. */
export type KubernetesFields = Readonly<Record<string, unknown>>

/**
 * Writes objects of the cluster under fencing tokens: rejects the write of a holder that has lost its lease without
 * noticing. Other resources have to check the token themselves.
 *
 * A resource is the path of an object, as in the API: `v1/configmaps/report`, `apps/v1/deployments/web`, or
 * `v1/namespaces/billing/configmaps/report` for another namespace than that of the guard. The token is in an annotation of
 * the object. The cluster keeps no annotations of a deleted object, so that the guard deletes nothing.
 *
 * All methods reject with a `LeaseLostError`, and write nothing, when the object was written under a larger token; with a
 * `LeaseConfigurationError` when it does not exist; otherwise as a store does. There is no time limit unless a `signal` is
 * given.
 */
export class KubernetesGuard implements FencingGuard {
  readonly #client: ApiClient
  readonly #aborts = new AbortListeners()

  /** Throws a `LeaseConfigurationError` for an unknown option. */
  constructor(options: KubernetesClusterOptions = {}) {
    checkNoKubeConfig('KubernetesGuard', options)
    checkOptionNames('KubernetesGuard', options, clusterOptionNames, { store: 'kubernetes' })
    this.#client = new ApiClient(options)
  }

  /** Replaces fields of the object, such as `{ data: { text } }`. Resolves with the written object. */
  async write(
    resource: string,
    fencingToken: bigint | string,
    fields: KubernetesFields,
    options?: GuardOptions,
  ): Promise<KubernetesObject> {
    return await this.transact(resource, fencingToken, (object) => ({ ...object, ...fields }), options)
  }

  /**
   * Reads the object, passes it to `change`, and writes the result, conditional on the version that was read. Resolves with
   * the written object. Calls `change` again when another writer was faster. Read the object only within `change` to decide
   * on the write.
   */
  async transact(
    resource: string,
    fencingToken: bigint | string,
    change: (object: KubernetesObject) => Record<string, unknown>,
    options?: GuardOptions,
  ): Promise<KubernetesObject> {
    const fence = new Fence('kubernetes', resource, fencingToken, options)
    const object = objectAt(resource)
    return await fence.send(this.#aborts, (call) =>
      inRounds(resource, { store: 'kubernetes' }, () => this.#round(fence, object, change, call), ROUNDS),
    )
  }

  /** Ends its connections. */
  async close(): Promise<void> {
    this.#client.close()
  }

  /** Resolves with the written object; with `undefined` if another writer was faster. */
  async #round(
    fence: Fence,
    { group, version, plural, name, namespace: given }: GuardedObject,
    change: (object: KubernetesObject) => Record<string, unknown>,
    call: StoreCall,
  ): Promise<KubernetesObject | undefined> {
    const resource = { group, version, plural }
    const namespace = given ?? (await this.#client.namespace())
    const path = pathOf(resource, namespace, name)
    const request = { needed: ['get', 'update'], resource, namespace } as const
    const read = await this.#client.send({ method: 'GET', path }, call)
    const object = objectIn(read, name, { verb: 'get', ...request })
    fence.check(object.metadata.annotations?.[TOKEN_ANNOTATION])
    const body = stamped(object, change(object), fence.token)
    // If the first of two copies is applied, the refusal of the second would call for the same change again.
    const written = await this.#client.send({ method: 'PUT', path, body, once: true }, call)
    return written.status === 409 ? undefined : objectIn(written, name, { verb: 'update', ...request })
  }
}

interface GuardedObject extends ApiResource {
  readonly name: string
  readonly namespace: string | undefined
}

function objectAt(resource: string): GuardedObject {
  const found = PATH.exec(resource)?.groups
  if (found === undefined) {
    throw misconfigured(
      `'${resource}' is not the path of an object: give its apiVersion, plural and name, such as v1/configmaps/report or ` +
        'apps/v1/namespaces/billing/deployments/web',
    )
  }
  const { group = '', version = '', plural = '', name = '', namespace } = found
  return { group, version, plural, name, namespace }
}

function objectIn(answer: ApiAnswer, name: string, request: FailedRequest): KubernetesObject {
  if (answer.status === 200 && isKubernetesObject(answer.body)) return answer.body
  if (answer.status !== 404 || statusOf(answer) === undefined) throw failureOf(answer, request)
  throw misconfigured(`${request.resource.plural} '${name}' does not exist: create it first`, answer)
}

/** The changed object with the token. Version and uid stay those that were read, even if `change` replaced them. */
function stamped(read: KubernetesObject, changed: Record<string, unknown>, token: bigint): Record<string, unknown> {
  const { name, namespace, uid, resourceVersion } = read.metadata
  const metadata = (changed.metadata ?? {}) as Partial<KubernetesObject['metadata']>
  const annotations = { ...metadata.annotations, [TOKEN_ANNOTATION]: String(token) }
  return { ...changed, metadata: { ...metadata, name, namespace, uid, resourceVersion, annotations } }
}
