import { existsSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { misconfigured } from '../failure-of.js'
import type { KubernetesClusterOptions } from '../kubernetes-options.js'
import type { KubeConfigLike } from './kube-config.js'

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Loads the given file; else `KUBECONFIG`; else the service account of this pod; else `~/.kube/config`. Rejects with a
 * `LeaseConfigurationError` if there is no configuration, or it cannot be read.
 */
export async function loadKubeConfig(options: KubernetesClusterOptions): Promise<KubeConfigLike> {
  // Loading the library takes most of a second. A caller that passes a KubeConfig has already loaded it.
  const library = await import('@kubernetes/client-node')
  const config = new library.KubeConfig()
  try {
    load(config, options)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw misconfigured(`the kubeconfig cannot be read: ${reason}`, error)
  }
  const { context } = options
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      throw misconfigured(`the kubeconfig has no context '${context}'`)
    }
    config.setCurrentContext(context)
  }
  if (config.getCurrentCluster() === null) {
    throw misconfigured(
      'no Kubernetes cluster is configured: set kubeconfigFile or KUBECONFIG, run in a pod with a service account, or ' +
        'name a context that has a cluster',
    )
  }
  return config
}

function load(config: KubeConfig, options: KubernetesClusterOptions): void {
  const { kubeconfigFile, serviceAccountFolder = SERVICE_ACCOUNT } = options
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env
  const tokenFile = join(serviceAccountFolder, 'token')
  if (kubeconfigFile !== undefined) {
    config.loadFromFile(kubeconfigFile)
  } else if (KUBECONFIG !== undefined && KUBECONFIG !== '') {
    config.loadFromDefault()
  } else if (host !== undefined && existsSync(tokenFile)) {
    // The pod's token must go to the pod's server only.
    const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
    const caFile = join(serviceAccountFolder, 'ca.crt')
    config.loadFromClusterAndUser(
      { name: 'in-cluster', server, caFile, skipTLSVerify: false },
      { name: 'service-account', authProvider: { name: 'tokenFile', config: { tokenFile } } },
    )
  } else if (existsSync(join(homedir(), '.kube', 'config'))) {
    config.loadFromDefault()
  }
}

/** The parts of client-node's `KubeConfig` that a copy needs. */
type Copyable = Pick<KubeConfig, 'clusters' | 'users' | 'contexts' | 'currentContext' | 'getCurrentUser'>

/**
 * Returns a copy with an empty token cache. client-node caches the token of a file for a minute and the token of an exec
 * plugin until its expiry, and cannot drop a token that the server rejects. A config without a cache, or of another
 * library, is returned as it is: it loads its credentials for every request.
 */
export function withFreshCredentials(config: KubeConfigLike): KubeConfigLike {
  if (!isCopyable(config)) return config
  const user = config.getCurrentUser()
  if (user?.exec === undefined && user?.authProvider === undefined) return config
  const copy = new (config.constructor as new () => KubeConfig)()
  const { clusters, users, contexts, currentContext } = config
  copy.loadFromOptions({ clusters, users, contexts, currentContext })
  return copy
}

function isCopyable(config: object): config is Copyable & KubeConfigLike {
  return 'loadFromOptions' in config && 'getCurrentUser' in config && 'users' in config
}

/** The namespace of this pod; `undefined` outside a pod. */
export function podNamespace({ serviceAccountFolder = SERVICE_ACCOUNT }: KubernetesClusterOptions): string | undefined {
  try {
    return readFileSync(join(serviceAccountFolder, 'namespace'), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
