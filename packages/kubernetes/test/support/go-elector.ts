import { AbortableCall } from '@leasehold/core/store'
import { ApiClient } from '../../src/api/api-client.js'
import type { KubeConfigLike } from '../../src/api/kube-config.js'
import { isKubernetesObject, type KubernetesObject } from '../../src/kubernetes-object.js'
import { clientGo } from './client-go.js'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'

/** Which transitions a late release writes: those that it has just read, as client-go does; or those that it remembers. */
export type ReleasedTransitions = 'read' | 'remembered'

/**
 * An elector that writes a Lease as client-go's `LeaderElector` does, over HTTP, step by step as the test says. It imitates the
 * versions that read the Lease before they release it: https://github.com/kubernetes/kubernetes/pull/132849. Releases of earlier
 * versions, such as 0.20.2, replace the version that they saw last, so that a late one is a conflict.
 */
export class GoElector {
  readonly #client: ApiClient
  readonly #name: string
  readonly #identity: string
  readonly #seconds: number
  /** The record as it has last seen or written it: by this it decides whether it is the leader. */
  #remembered: Readonly<Record<string, unknown>> = {}

  constructor(kubeConfig: KubeConfigLike, name: string, identity: string, seconds: number) {
    this.#client = new ApiClient({ kubeConfig })
    this.#name = name
    this.#identity = identity
    this.#seconds = seconds
  }

  get isLeader(): boolean {
    return this.#remembered.holderIdentity === this.#identity
  }

  /** Takes the Lease as one does that has found it free or expired. Rejects where another write came first. */
  async acquire(): Promise<void> {
    const object = await this.#get()
    const spec =
      object === undefined
        ? clientGo.acquired(this.#identity, this.#seconds)
        : clientGo.takenOver(object.spec ?? {}, this.#identity, this.#seconds)
    await this.#write(object, spec)
  }

  /**
   * `release()` of leaderelection.go since that change: reads the object again, for its resourceVersion; returns unless the
   * *remembered* record says that it is the leader; writes an empty holder over whatever it has read.
   */
  async release(transitions: ReleasedTransitions = 'read'): Promise<void> {
    const object = await this.#get()
    if (object === undefined || !this.isLeader) return
    await this.#write(object, clientGo.released(transitions === 'read' ? (object.spec ?? {}) : this.#remembered))
  }

  close(): void {
    this.#client.close()
  }

  async #get(): Promise<KubernetesObject | undefined> {
    const { status, body } = await this.#client.send({ method: 'GET', path: this.#path }, never)
    if (status === 404) return undefined
    if (!isKubernetesObject(body)) throw new Error(`no Lease was read: ${status}`)
    return body
  }

  async #write(object: KubernetesObject | undefined, spec: Readonly<Record<string, unknown>>): Promise<void> {
    const made = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: this.#name } }
    const { status, text } = await this.#client.send(
      object === undefined
        ? { method: 'POST', path: LEASES, body: { ...made, spec } }
        : { method: 'PUT', path: this.#path, body: { ...object, spec } },
      never,
    )
    if (status !== 200 && status !== 201) throw new Error(`the Lease was not written: ${status} ${text}`)
    this.#remembered = spec
  }

  get #path(): string {
    return `${LEASES}/${this.#name}`
  }
}

const never = new AbortableCall()
