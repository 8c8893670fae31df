import {
  type AcquireOutcome,
  type AcquireRequest,
  type BreakOptions,
  type CasStore,
  casStore,
  defaultLogger,
  type Grant,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreLimits,
  systemClock,
} from '@leasehold/core'
import { checkAccess } from './access-check.js'
import { Cluster } from './cluster.js'
import { chooseLayout, type KubernetesLeaseStoreOptions, type LayoutChoice } from './kubernetes-options.js'
import { ObjectRegister } from './object-register.js'

/**
 * Leases on the Kubernetes API. Nobody's clock is compared with anybody's: who waits takes over after having itself seen
 * the object unchanged for the duration that is recorded in it. The fencing token is the resourceVersion of the write
 * that granted the lease.
 */
export class KubernetesLeaseStore implements LeaseStore {
  readonly kind = 'kubernetes'
  readonly limits: StoreLimits
  readonly watch?: NonNullable<LeaseStore['watch']>
  readonly watchGrant?: NonNullable<LeaseStore['watchGrant']>
  readonly #store: CasStore
  readonly #cluster: Cluster
  readonly #choice: LayoutChoice

  /** Throws a `LeaseConfigurationError` where an option makes no sense. The cluster is first asked for a lease. */
  constructor(options: KubernetesLeaseStoreOptions = {}) {
    const { clock = systemClock, logger = defaultLogger, watch = true } = options
    const choice = chooseLayout(options)
    const { layout, limits, longest } = choice
    const cluster = new Cluster(options)
    this.#choice = choice
    this.#cluster = cluster
    this.limits = { ...limits, infinite: false, ordered: false }
    const register = new ObjectRegister({
      client: cluster.client,
      layout,
      namespace: () => cluster.namespace(),
      watches: watch,
      longest,
      clock,
      logger,
    })
    this.#store = casStore(register, { clock, minTtl: limits.minTtl, maxTtl: longest })
    if (this.#store.watch === undefined) return
    this.watch = this.#store.watch
    this.watchGrant = (grant, signal) => register.watchGrant(grant, signal)
  }

  /**
   * Asks the server whether the lease could be held, so that a missing permission, namespace or CRD is told now and not
   * at the first failover. Resolves with what is missing but can be done without, as sentences. Rejects with a
   * `LeaseUnauthorisedError` that prints the Role, or a `LeaseConfigurationError` that names the manifest.
   */
  async checkAccess(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const { client } = this.#cluster
    const namespace = await this.#cluster.namespace()
    return await checkAccess({ client, layout: this.#choice.layout, namespace, leaseName: name }, signal)
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<AcquireOutcome> {
    const { maxTtl } = this.limits
    if (request.ttl > maxTtl) {
      throw new LeaseConfigurationError(`the ttl must be at most ${maxTtl} ms, not ${request.ttl}`, {
        leaseName: request.name,
        owner: request.owner,
        store: this.kind,
      })
    }
    return await this.#store.acquire(request, signal)
  }

  async renew(grant: Grant, signal: AbortSignal): Promise<RenewOutcome> {
    return await this.#store.renew(grant, signal)
  }

  async release(grant: Grant, signal: AbortSignal): Promise<ReleaseOutcome> {
    return await this.#store.release(grant, signal)
  }

  async read(name: string, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    return await this.#store.read(name, signal)
  }

  async change(
    grant: Grant,
    to: { readonly grantId: string; readonly owner: string },
    signal: AbortSignal,
  ): Promise<AcquireOutcome> {
    return await this.#store.change(grant, to, signal)
  }

  async break(name: string, options: BreakOptions, signal: AbortSignal): Promise<{ readonly remaining: number }> {
    return await this.#store.break(name, options, signal)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#store.closed
  }

  async close(): Promise<void> {
    await this.#store.close()
  }
}
