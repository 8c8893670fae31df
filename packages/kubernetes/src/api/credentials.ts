import type { KubeConfig } from '@kubernetes/client-node'
import type { KubeConfigLike } from './kube-config.js'

/** What of client-node's `KubeConfig` it takes to make another one of the same content. */
type Copyable = Pick<KubeConfig, 'clusters' | 'users' | 'contexts' | 'currentContext' | 'getCurrentUser'>

/**
 * A copy that has read no token yet. client-node keeps the token of a file for a minute, and that of an exec plugin
 * until it says to expire, and has no way to be told that the server does not take it any more. What keeps none, and
 * what is no `KubeConfig` of that library, stays as it is: it is asked anew at every request.
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
