import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { importOptional } from '@leasehold/core/store-kit'
import { misconfigured } from '../failure-of.js'
import type { KubernetesClusterOptions } from '../kubernetes-options.js'
import type { KubeConfigLike } from './kube-config.js'
import { podConfig } from './pod-config.js'

const clientNode = {
  name: '@kubernetes/client-node',
  install: '@kubernetes/client-node@1',
  neededBy: 'a kubeconfig',
  advice: 'Version 2 needs Node 22. In a pod, the service account is enough: leave out kubeconfigFile and KUBECONFIG',
  store: 'kubernetes',
}

/**
 * Loads the given file; else `KUBECONFIG`; else the service account of this pod; else `~/.kube/config`. Rejects with a
 * `LeaseConfigurationError` if there is no configuration, it cannot be read, or it needs a package that is not installed.
 */
export async function loadKubeConfig(options: KubernetesClusterOptions): Promise<KubeConfigLike> {
  const { kubeconfigFile, context } = options
  const { KUBECONFIG = '' } = process.env
  const isNamed = kubeconfigFile !== undefined || KUBECONFIG !== ''
  // The pod's token must go to the pod's server only.
  const pod = isNamed ? undefined : podConfig(options)
  if (pod === undefined && !isNamed && !existsSync(join(homedir(), '.kube', 'config'))) throw unconfigured()
  const config = pod ?? (await kubeconfigIn(kubeconfigFile))
  if (context !== undefined) setContext(config, context)
  if (config.getCurrentCluster() === null) throw unconfigured()
  return config
}

/** The kubeconfig in the file; without one, that of `KUBECONFIG` or of the home folder. */
async function kubeconfigIn(file: string | undefined): Promise<KubeConfig> {
  // Loading the library takes most of a second. A caller that passes a KubeConfig has already loaded it.
  const library = await importOptional(clientNode, () => import('@kubernetes/client-node'))
  const config = new library.KubeConfig()
  try {
    if (file === undefined) config.loadFromDefault()
    else config.loadFromFile(file)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw misconfigured(`the kubeconfig cannot be read: ${reason}`, error)
  }
  return config
}

function setContext(config: KubeConfigLike & Partial<Pick<KubeConfig, 'setCurrentContext'>>, context: string): void {
  if (config.setCurrentContext === undefined) {
    throw misconfigured(`a pod has no context '${context}': leave out context, or set kubeconfigFile`)
  }
  if (config.getContextObject(context) === null) throw misconfigured(`the kubeconfig has no context '${context}'`)
  config.setCurrentContext(context)
}

function unconfigured(): Error {
  return misconfigured(
    'no Kubernetes cluster is configured: set kubeconfigFile or KUBECONFIG, run in a pod with a service account, or ' +
      'name a context that has a cluster',
  )
}

/** The parts of client-node's `KubeConfig` that a copy needs. Its type hides the authenticators that the user added. */
type Copyable = Pick<KubeConfig, 'clusters' | 'users' | 'contexts' | 'currentContext' | 'getCurrentUser'> & {
  readonly custom_authenticators?: readonly Parameters<KubeConfig['addAuthenticator']>[0][]
}

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
  for (const added of config.custom_authenticators ?? []) copy.addAuthenticator(added)
  copy.loadFromOptions({ clusters, users, contexts, currentContext })
  return copy
}

function isCopyable(config: object): config is Copyable & KubeConfigLike {
  return 'loadFromOptions' in config && 'getCurrentUser' in config && 'users' in config
}
