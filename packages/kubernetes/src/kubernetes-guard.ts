import {
  AbortableCall,
  AbortListeners,
  checkFence,
  checkFencingToken,
  checkOptionNames,
  inRounds,
  type StoreCall,
} from '@leasehold/core/store'
import { type ApiAnswer, statusOf } from './api/api-answer.js'
import { ApiClient } from './api/api-client.js'
import { pathOf } from './api/api-request.js'
import { type Attempt, failureOf, misconfigured } from './failure-of.js'
import { isKubernetesObject, type KubernetesObject } from './kubernetes-object.js'
import { clusterOptionNames, type KubernetesClusterOptions } from './kubernetes-options.js'

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
  readonly #client: ApiClient
  readonly #aborts = new AbortListeners()

  /** Throws a `LeaseConfigurationError` for an unknown option. */
  constructor(options: KubernetesClusterOptions = {}) {
    checkOptionNames('KubernetesGuard', options, clusterOptionNames, { store: 'kubernetes' })
    this.#client = new ApiClient(options)
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
    fencingToken: bigint | string,
    change: (object: KubernetesObject) => Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<KubernetesObject> {
    const names = { apiVersion: true, resource: true, name: true, namespace: true } as const
    checkOptionNames<GuardedObject>('KubernetesGuard.update', guarded, names, { store: 'kubernetes' })
    const token = checkFencingToken(fencingToken, { store: 'kubernetes' })
    const call = new AbortableCall()
    const unlisten = signal && this.#aborts.add(signal, () => call.abort(signal.reason))
    const subject = `${guarded.resource}/${guarded.name}`
    try {
      const round = () => this.#round(guarded, token, change, call)
      return await inRounds(subject, { store: 'kubernetes' }, round, ROUNDS)
    } finally {
      unlisten?.()
    }
  }

  /** Ends its connections. */
  async close(): Promise<void> {
    this.#client.close()
  }

  /** Resolves with the written object; with `undefined` if another writer was faster. */
  async #round(
    { apiVersion, resource: plural, name, namespace: given }: GuardedObject,
    fencingToken: bigint,
    change: (object: KubernetesObject) => Record<string, unknown>,
    call: StoreCall,
  ): Promise<KubernetesObject | undefined> {
    const [version = '', group = ''] = apiVersion.split('/').reverse()
    const resource = { group, version, plural }
    const namespace = given ?? (await this.#client.namespace())
    const path = pathOf(resource, namespace, name)
    const attempt = { needed: ['get', 'update'], resource, namespace } as const
    const read = await this.#client.send({ method: 'GET', path }, call)
    const object = objectIn(read, name, { verb: 'get', ...attempt })
    checkFence(`${plural}/${name}`, fencingToken, object.metadata.annotations?.[TOKEN_ANNOTATION], 'kubernetes')
    const body = stamped(object, change(object), fencingToken)
    const written = await this.#client.send({ method: 'PUT', path, body }, call)
    return written.status === 409 ? undefined : objectIn(written, name, { verb: 'update', ...attempt })
  }
}

function objectIn(answer: ApiAnswer, name: string, attempt: Attempt): KubernetesObject {
  if (answer.status === 200 && isKubernetesObject(answer.body)) return answer.body
  if (answer.status !== 404 || statusOf(answer) === undefined) throw failureOf(answer, attempt)
  throw misconfigured(`${attempt.resource.plural} '${name}' does not exist: create it first`, answer)
}

/** The changed object with the token. Version and uid stay those that were read, even if `change` replaced them. */
function stamped(read: KubernetesObject, changed: Record<string, unknown>, token: bigint): Record<string, unknown> {
  const { name, namespace, uid, resourceVersion } = read.metadata
  const metadata = (changed.metadata ?? {}) as Partial<KubernetesObject['metadata']>
  const annotations = { ...metadata.annotations, [TOKEN_ANNOTATION]: String(token) }
  return { ...changed, metadata: { ...metadata, name, namespace, uid, resourceVersion, annotations } }
}
