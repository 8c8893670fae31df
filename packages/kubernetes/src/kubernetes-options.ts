import { type Clock, LeaseConfigurationError, type Logger } from '@leasehold/core'
import type { KubeConfigLike } from './api/kube-config.js'
import { jvmLayout } from './layouts/jvm-layout.js'
import type { Layout, LayoutName } from './layouts/layout.js'
import { leaseLayout } from './layouts/lease-layout.js'

/** The cluster and the namespace. */
export interface KubernetesClusterOptions {
  /** A `KubeConfig` of `@kubernetes/client-node`, or an object with the same four methods. */
  readonly kubeConfig?: KubeConfigLike | undefined
  /** The path of a kubeconfig. Default: `KUBECONFIG`, else the pod's service account, else `~/.kube/config`. */
  readonly kubeconfigFile?: string | undefined
  /** A context of the kubeconfig other than its current one. */
  readonly context?: string | undefined
  /** Default: the namespace of the pod, else of the context, else `default`. */
  readonly namespace?: string | undefined
  /** The folder with the pod's token, CA and namespace; `/var/run/secrets/kubernetes.io/serviceaccount` unless given. */
  readonly serviceAccountFolder?: string | undefined
  /** The machine's clock unless given. */
  readonly clock?: Clock | undefined
}

/** Durations are milliseconds. */
export interface KubernetesLeaseStoreOptions extends KubernetesClusterOptions {
  /** `lease` unless given. */
  readonly layout?: LayoutName | undefined
  /** The longest ttl, and the longest time to wait for any record; 1 h unless given. All processes need the same. */
  readonly maxTtl?: number | undefined
  /** Whether waiters and holders watch the object, on one connection each; true unless given. */
  readonly watch?: boolean | undefined
  /** The `heartbeat-timeout` of the JVMs, for the layouts of Akka and Pekko; Akka's 120 s unless given. */
  readonly jvmHeartbeatTimeout?: number | undefined
  /** The `heartbeat-interval` of the JVMs; Akka's unless given: a tenth of the timeout, at least 5 s. */
  readonly jvmHeartbeatInterval?: number | undefined
  /** The largest difference between wall clocks in the cluster, for the layouts of Akka and Pekko; 5 s unless given. */
  readonly maxClockSkew?: number | undefined
  /** For warnings about unusual records; process warnings unless given. */
  readonly logger?: Logger | undefined
}

const HOUR = 3_600_000
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Durations are recorded in whole seconds. */
const MIN_TTL = 1_000

export interface LayoutChoice {
  readonly layout: Layout
  /** The ttls that our own leases can have, in milliseconds. */
  readonly limits: { readonly minTtl: number; readonly maxTtl: number }
  /** Longer durations of other programs count as this, in milliseconds. */
  readonly longest: number
}

/** Throws a `LeaseConfigurationError` that says which setting to change. */
export function chooseLayout({ layout: name = 'lease', ...options }: KubernetesLeaseStoreOptions): LayoutChoice {
  const longest = positive('maxTtl', options.maxTtl ?? HOUR)
  if (longest < MIN_TTL) throw wrong(`maxTtl must be at least ${MIN_TTL} ms, not ${longest}`)
  switch (name) {
    case 'lease':
      return { layout: leaseLayout, limits: { minTtl: MIN_TTL, maxTtl: longest }, longest }
    case 'akka':
      return jvmChoice('akka.io', options, longest)
    case 'pekko':
      return jvmChoice('pekko.apache.org', options, longest)
    default:
      throw wrong(`layout must be lease, akka or pekko, not '${String(name)}'`)
  }
}

/**
 * A JVM takes over when its wall clock is past `time + timeout − 2 × interval`, for any ttl of ours. Our leases have to end
 * before that, on every clock of the cluster.
 */
function jvmChoice(
  group: 'akka.io' | 'pekko.apache.org',
  options: KubernetesLeaseStoreOptions,
  longest: number,
): LayoutChoice {
  const timeout = positive('jvmHeartbeatTimeout', options.jvmHeartbeatTimeout ?? 120_000)
  const interval = positive('jvmHeartbeatInterval', options.jvmHeartbeatInterval ?? Math.max(timeout / 10, 5_000))
  const skew = options.maxClockSkew ?? 5_000
  if (!(skew >= 0 && skew < Number.POSITIVE_INFINITY)) throw wrong(`maxClockSkew must be 0 or more ms, not ${skew}`)
  const maxTtl = timeout - 2 * interval - skew
  if (maxTtl < MIN_TTL) {
    throw wrong(
      `jvmHeartbeatTimeout (${timeout}) − 2 × jvmHeartbeatInterval (${interval}) − maxClockSkew (${skew}) leaves ${maxTtl} ` +
        `ms for a lease, but the minimum is ${MIN_TTL}. JVMs take over after that time. Raise heartbeat-timeout or lower heartbeat-interval, in the JVMs and here`,
    )
  }
  if (timeout > longest) throw wrong(`maxTtl (${longest}) must not be less than jvmHeartbeatTimeout (${timeout})`)
  return { layout: jvmLayout(group, timeout), limits: { minTtl: MIN_TTL, maxTtl: Math.min(maxTtl, longest) }, longest }
}

export function serviceAccountFolderOf({ serviceAccountFolder = SERVICE_ACCOUNT }: KubernetesClusterOptions): string {
  return serviceAccountFolder
}

function positive(option: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY) return value
  throw wrong(`${option} must be a positive, finite number of milliseconds, not ${String(value)}`)
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { store: 'kubernetes' })
}
