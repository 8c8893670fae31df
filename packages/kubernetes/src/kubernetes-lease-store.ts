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
  type Metadata,
  type ReleaseOutcome,
  type RenewOutcome,
  type StoreCall,
  type StoreLimits,
  systemClock,
} from '@leasehold/core'
import { checkAccess } from './access-check.js'
import { Cluster } from './cluster.js'
import { chooseLayout, type KubernetesLeaseStoreOptions, type LayoutChoice } from './kubernetes-options.js'
import { ObjectRegister } from './object-register.js'

/**
 * Leases in objects of the Kubernetes API. A challenger takes over only after it has itself seen the object unchanged for
 * the recorded duration; no timestamp is compared with a clock. The fencing token is the resourceVersion of the write that
 * granted the lease.
 */
export class KubernetesLeaseStore implements LeaseStore {
  readonly kind = 'kubernetes'
  readonly limits: StoreLimits
  /**
   * Yields the leases of the namespace, also those of other programs. Needs the verb `list`. A lease name that is not an
   * RFC 1123 subdomain is in an annotation; an object without it, of an earlier version of this package, is left out.
   */
  readonly list?: NonNullable<LeaseStore['list']>
  readonly watch?: NonNullable<LeaseStore['watch']>
  readonly watchGrant?: NonNullable<LeaseStore['watchGrant']>
  readonly #store: CasStore
  readonly #cluster: Cluster
  readonly #choice: LayoutChoice

  /** Throws a `LeaseConfigurationError` if an option is invalid. The constructor sends no request. */
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
    if (this.#store.list !== undefined) this.list = this.#store.list
    if (this.#store.watch === undefined) return
    this.watch = this.#store.watch
    this.watchGrant = (grant, call) => register.watchGrant(grant, call)
  }

  /**
   * Checks at start-up, instead of at the first failover, whether the lease can be held. Resolves with a sentence for each
   * permission that is missing but not necessary. Rejects with a `LeaseUnauthorisedError` that prints the Role, or with a
   * `LeaseConfigurationError` that names the missing namespace or manifest.
   */
  async checkAccess(name: string, call: StoreCall): Promise<readonly string[]> {
    const { client } = this.#cluster
    const namespace = await this.#cluster.namespace()
    return await checkAccess({ client, layout: this.#choice.layout, namespace, leaseName: name }, call)
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    const { maxTtl } = this.limits
    if (request.ttl > maxTtl) {
      throw new LeaseConfigurationError(`the ttl must be at most ${maxTtl} ms, not ${request.ttl}`, {
        leaseName: request.name,
        owner: request.owner,
        store: this.kind,
      })
    }
    return await this.#store.acquire(request, call)
  }

  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    return await this.#store.renew(grant, call)
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    return await this.#store.update(grant, metadata, call)
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    return await this.#store.release(grant, call, metadata)
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    return await this.#store.read(name, call)
  }

  async change(
    grant: Grant,
    to: { readonly grantId: string; readonly owner: string },
    call: StoreCall,
  ): Promise<AcquireOutcome> {
    return await this.#store.change(grant, to, call)
  }

  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ readonly remaining: number }> {
    return await this.#store.break(name, options, call)
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#store.closed
  }

  async close(): Promise<void> {
    await this.#store.close()
  }
}
