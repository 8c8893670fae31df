import type { KubeConfig } from '@kubernetes/client-node'
import type { KubeConfigLike } from './kube-config.js'

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
