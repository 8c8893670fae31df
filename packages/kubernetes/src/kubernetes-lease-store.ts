import { defaultLogger, type LeaseStore, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall, CasLeaseStore } from '@leasehold/core/store'
import { checkAccess } from './access-check.js'
import { Cluster } from './cluster.js'
import { chooseLayout, type KubernetesLeaseStoreOptions } from './kubernetes-options.js'
import type { Layout } from './layouts/layout.js'
import { ObjectRegister } from './object-register.js'

/** The default time limit of {@link KubernetesLeaseStore.checkAccess}, in milliseconds. */
const CHECK_TIMEOUT = 5_000

/**
 * Leases in objects of the Kubernetes API. A challenger takes over only after it has itself seen the object unchanged for
 * the recorded duration; no timestamp is compared with a clock. The fencing token is the resourceVersion of the write that
 * granted the lease.
 *
 * `list` yields the leases of the namespace, also those of other programs. It needs the verb `list`. A lease name that is
 * not an RFC 1123 subdomain is in an annotation; an object without it, of an earlier version of this package, is left out.
 */
export class KubernetesLeaseStore extends CasLeaseStore<string> {
  readonly watchGrant?: NonNullable<LeaseStore['watchGrant']>
  readonly #cluster: Cluster
  readonly #layout: Layout
  readonly #options: KubernetesLeaseStoreOptions

  /** Throws a `LeaseConfigurationError` if an option is invalid. The constructor sends no request. */
  constructor(options: KubernetesLeaseStoreOptions = {}) {
    const { clock = systemClock, logger = defaultLogger, watch: watches = true } = options
    const { layout, limits, longest } = chooseLayout(options)
    const cluster = new Cluster(options)
    const { client } = cluster
    const namespace = (): Promise<string> => cluster.namespace()
    const register = new ObjectRegister({ client, layout, namespace, watches, longest, clock, logger })
    super(register, { clock, longest, ...limits })
    this.#cluster = cluster
    this.#layout = layout
    this.#options = options
    if (watches) this.watchGrant = (grant, call) => register.watchGrant(grant, call)
  }

  /**
   * Checks at start-up, instead of at the first failover, whether the lease can be held. Resolves with a sentence for each
   * permission that is missing but not necessary. Rejects with a `LeaseUnauthorisedError` that prints the Role, with a
   * `LeaseConfigurationError` that names the missing namespace or manifest, or with a `LeaseUnavailableError` if there is
   * no answer within `timeout` milliseconds, 5 s unless given.
   */
  async checkAccess(leaseName: string, timeout = CHECK_TIMEOUT): Promise<readonly string[]> {
    const { clock = systemClock } = this.#options
    const call = new AbortableCall(timeout)
    const reason = new LeaseUnavailableError(`no answer within ${timeout} ms`, { store: this.kind, leaseName })
    const cancel = clock.schedule(timeout, () => call.abort(reason))
    try {
      const namespace = await this.#cluster.namespace()
      return await checkAccess({ client: this.#cluster.client, layout: this.#layout, namespace, leaseName }, call)
    } finally {
      cancel()
    }
  }
}
