import { systemClock } from '@leasehold/core'
import { ApiClient } from './api/api-client.js'
import { loadKubeConfig, podNamespace } from './api/load-kube-config.js'
import { type KubernetesClusterOptions, serviceAccountFolderOf } from './kubernetes-options.js'

/** The API server and the namespace. */
export class Cluster {
  readonly client: ApiClient
  readonly #options: KubernetesClusterOptions
  #namespace: string | undefined

  constructor(options: KubernetesClusterOptions) {
    const { kubeConfig, kubeconfigFile, context, clock = systemClock } = options
    const serviceAccountFolder = serviceAccountFolderOf(options)
    this.#options = options
    this.client = new ApiClient(
      async () => kubeConfig ?? (await loadKubeConfig({ kubeconfigFile, context, serviceAccountFolder })),
      clock,
    )
  }

  /** The given namespace; else that of the pod; else that of the kubeconfig's context; else `default`, as in kubectl. */
  async namespace(): Promise<string> {
    this.#namespace ??= await this.#findNamespace()
    return this.#namespace
  }

  async #findNamespace(): Promise<string> {
    const given = this.#options.namespace ?? podNamespace(serviceAccountFolderOf(this.#options))
    if (given !== undefined) return given
    const config = await this.client.config()
    return config.getContextObject(config.getCurrentContext())?.namespace || 'default'
  }
}
