// @ts-check
/** @import { OpenedStore } from './contract.js' */
import { ApiException, CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { KubernetesGuard, KubernetesLeaseStore } from '@leasehold/kubernetes'

/** After how many milliseconds without a heartbeat another process takes over: the default of client-go. */
export const heartbeatTimeout = 15_000

export const advice = `Apply the permissions: kubectl apply -f kubernetes.yaml. Outside of a pod, the service uses the current context of your kubeconfig.`

/**
 * The leases, and the data that the holder writes: ConfigMaps of the same namespace.
 *
 * @returns {Promise<OpenedStore>}
 */
export async function openStore() {
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromDefault()
  const namespace = kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace ?? 'default'
  const store = new KubernetesLeaseStore({ namespace })
  const guard = new KubernetesGuard({ namespace })
  /** @type {Set<string>} */
  const existing = new Set()

  /** @param {string} name */
  async function createConfigMap(name) {
    try {
      const core = kubeConfig.makeApiClient(CoreV1Api)
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } })
    } catch (error) {
      // Another process has created it.
      if (!(error instanceof ApiException && error.code === 409)) throw error
    }
    existing.add(name)
  }

  return {
    store,
    // Checks the fencing token, which is in an annotation, and writes if nobody else has written meanwhile.
    save: async (key, text, { fencingToken, signal }) => {
      const name = `my-service-${key}`
      if (!existing.has(name)) await createConfigMap(name)
      await guard.write(`v1/configmaps/${name}`, fencingToken, { data: { text } }, { signal })
    },
    close: async () => {
      await guard.close()
      await store.close()
    },
  }
}
