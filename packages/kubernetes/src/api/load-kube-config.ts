import { accessSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { LeaseConfigurationError } from '@leasehold/core'
import type { KubeConfigLike } from './kube-config.js'

/** Where to look for the cluster and its credentials. */
export interface KubeConfigSource {
  /** The path of a kubeconfig. */
  readonly kubeconfigFile?: string | undefined
  /** A context of the kubeconfig other than its current one. */
  readonly context?: string | undefined
  /** The folder with the token, CA and namespace of a pod. */
  readonly serviceAccountFolder: string
}

/**
 * Loads the given file; else `KUBECONFIG`; else the service account of this pod; else `~/.kube/config`. Rejects with a
 * `LeaseConfigurationError` if there is no configuration, or it cannot be read.
 */
export async function loadKubeConfig(source: KubeConfigSource): Promise<KubeConfigLike> {
  // Loading the library takes most of a second. A caller that passes a KubeConfig has already loaded it.
  const library = await import('@kubernetes/client-node')
  const config = new library.KubeConfig()
  try {
    load(config, source)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new LeaseConfigurationError(`the kubeconfig cannot be read: ${reason}`, { store: 'kubernetes', cause: error })
  }
  const { context } = source
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      throw new LeaseConfigurationError(`the kubeconfig has no context '${context}'`, { store: 'kubernetes' })
    }
    config.setCurrentContext(context)
  }
  if (config.getCurrentCluster() === null) {
    throw new LeaseConfigurationError(
      'no Kubernetes cluster is configured: set kubeconfigFile or KUBECONFIG, run in a pod with a service account, or ' +
        'name a context that has a cluster',
      { store: 'kubernetes' },
    )
  }
  return config
}

function load(config: KubeConfig, { kubeconfigFile, serviceAccountFolder }: KubeConfigSource): void {
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env
  const tokenFile = join(serviceAccountFolder, 'token')
  if (kubeconfigFile !== undefined) {
    config.loadFromFile(kubeconfigFile)
  } else if (KUBECONFIG !== undefined && KUBECONFIG !== '') {
    config.loadFromDefault()
  } else if (host !== undefined && exists(tokenFile)) {
    // The pod's token must go to the pod's server only.
    const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
    const caFile = join(serviceAccountFolder, 'ca.crt')
    config.loadFromClusterAndUser(
      { name: 'in-cluster', server, caFile, skipTLSVerify: false },
      { name: 'service-account', authProvider: { name: 'tokenFile', config: { tokenFile } } },
    )
  } else if (exists(join(homedir(), '.kube', 'config'))) {
    config.loadFromDefault()
  }
}

/** The namespace of this pod; `undefined` outside a pod. */
export function podNamespace(serviceAccountFolder: string): string | undefined {
  try {
    return readFileSync(join(serviceAccountFolder, 'namespace'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function exists(file: string): boolean {
  try {
    accessSync(file)
    return true
  } catch {
    return false
  }
}
