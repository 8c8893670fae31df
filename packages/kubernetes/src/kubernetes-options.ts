import type { Clock, Logger } from '@leasehold/core'
import { type OptionNames, ProviderOptions } from '@leasehold/core/store'
import type { KubeConfigLike } from './api/kube-config.js'
import type { LayoutName } from './layouts/layout.js'

/** The options of the block `leasehold.kubernetes`. After a change: `npm run docs:options`. */
export const kubernetesOptions = new ProviderOptions('kubernetes', {
  layout: {
    type: 'choice',
    words: ['lease', 'akka', 'pekko'],
    default: '"lease"',
    description:
      "The format of the leases in the cluster. `lease`: coordination.k8s.io/v1, shared with client-go's leader " +
      'election. `akka` and `pekko`: their custom resources; apply the manifest first.',
  },
  namespace: {
    type: 'text',
    description:
      "The namespace of the objects. Default: the namespace of the pod, else of the kubeconfig's context, else `default`.",
  },
  kubeconfigFile: {
    type: 'text',
    description:
      "The path of a kubeconfig. Default: the files of KUBECONFIG, else the pod's service account, else ~/.kube/config.",
  },
  context: { type: 'text', description: 'A context of the kubeconfig other than its current one.' },
  serviceAccountFolder: {
    type: 'text',
    default: '"/var/run/secrets/kubernetes.io/serviceaccount"',
    description: "The folder with the pod's token, CA and namespace.",
  },
  maxTtl: {
    type: 'duration',
    default: '1h',
    description:
      'The longest ttl, and the longest time to wait for any record. All processes that share leases need the same ' +
      'value, at least the longest duration that any of them records.',
  },
  watch: {
    type: 'switch',
    default: 'on',
    description:
      'Whether waiters and holders watch the object, on one connection each. They then notice a release, or a change by ' +
      'another program, at once. Needs the verb watch.',
  },
  jvmHeartbeatTimeout: {
    type: 'duration',
    default: '120s',
    description:
      'For the layouts akka and pekko: `heartbeat-timeout` of the JVMs that share the leases. A JVM takes over when its ' +
      'clock is past the time of the last heartbeat + timeout − 2 × interval.',
  },
  jvmHeartbeatInterval: {
    type: 'duration',
    description:
      'For the layouts akka and pekko: `heartbeat-interval` of the JVMs. Default: max(timeout / 10, 5s), as in Akka.',
  },
  maxClockSkew: {
    type: 'duration',
    default: '5s',
    description: 'For the layouts akka and pekko: the largest difference between wall clocks in the cluster.',
  },
  checkAccess: {
    type: 'switch',
    default: 'on',
    description:
      'Whether to check the permissions before the first lease is made, so that a missing permission or CRD is reported ' +
      'at the start, not at the first failover.',
  },
})

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

/** The names of the options of the cluster in code. */
export const clusterOptionNames: OptionNames<KubernetesClusterOptions> = {
  kubeConfig: true,
  kubeconfigFile: true,
  context: true,
  namespace: true,
  serviceAccountFolder: true,
  clock: true,
}

/** The names of the options of a store in code. */
export const optionNames: OptionNames<KubernetesLeaseStoreOptions> = {
  ...clusterOptionNames,
  layout: true,
  maxTtl: true,
  watch: true,
  jvmHeartbeatTimeout: true,
  jvmHeartbeatInterval: true,
  maxClockSkew: true,
  logger: true,
}
