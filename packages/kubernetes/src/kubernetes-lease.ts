import { LeaseUnavailableError, type Logger } from '@leasehold/core'
import { providerFactory } from '@leasehold/core/store-kit'
import { KubernetesLeaseStore } from './kubernetes-lease-store.js'
import { kubernetesOptions } from './kubernetes-options.js'

/**
 * The factory of leases in a Kubernetes cluster, for `lease-class = "@leasehold/kubernetes"`. All leases of one provider
 * with the same options share a store. For the first one, the factory checks the permissions, and rejects with a
 * `LeaseUnauthorisedError` or a `LeaseConfigurationError` if leases cannot be held.
 */
export const kubernetesLease = providerFactory(
  kubernetesOptions,
  async ({ checkAccess = true, ...values }, context) => {
    const { clock, logger, random, leaseName } = context
    const store = new KubernetesLeaseStore({ ...values, clock, logger, random })
    if (checkAccess) await check(store, leaseName, logger)
    return store
  },
)

/** Checks the permissions. If there is no answer, the first `acquire` reports the problem. */
async function check(store: KubernetesLeaseStore, name: string, logger: Logger): Promise<void> {
  try {
    for (const sentence of await store.checkAccess(name)) logger.warn(sentence)
  } catch (error) {
    if (!(error instanceof LeaseUnavailableError)) {
      await store.close()
      throw error
    }
    logger.warn('the permissions to hold leases in the cluster could not be checked', error)
  }
}
