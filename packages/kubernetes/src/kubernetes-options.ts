import type { Clock, Logger } from '@leasehold/core'
import {
  checkMisplaced,
  hasParts,
  type Misplaced,
  type OptionNames,
  type OptionsOf,
  ProviderOptions,
} from '@leasehold/core/store-kit'
import type { KubeConfigLike } from './api/kube-config.js'

/** The options of the block `leasehold.kubernetes`. After a change: `npm run docs:update`. */
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
      "The path of a kubeconfig, which needs @kubernetes/client-node. Default: the files of KUBECONFIG, else the pod's " +
      'service account, which needs no client, else ~/.kube/config.',
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
  clockDifference: {
    type: 'duration',
    default: '5s',
    description:
      'The largest difference between the clocks of the API servers, and of proxies in front of them. A challenger that has ' +
      'just started then replaces a dead holder this time and 2s after the ttl. `infinite`: it trusts no clock, and observes ' +
      'each record for a ttl.',
  },
  checkAccess: {
    type: 'switch',
    default: 'on',
    description:
      'Whether to check the permissions before the first lease is made, so that a missing permission or CRD is reported ' +
      'at the start, not at the first failover.',
  },
})

/** The options of a block, in camel case; durations in milliseconds. Their descriptions are in {@link kubernetesOptions}. */
export type KubernetesOptions = Partial<OptionsOf<(typeof kubernetesOptions)['declarations']>>

/** The format of the leases in the cluster. */
export type LayoutName = NonNullable<KubernetesOptions['layout']>

/** The cluster and the namespace. */
export interface KubernetesClusterOptions
  extends Pick<KubernetesOptions, 'kubeconfigFile' | 'context' | 'namespace' | 'serviceAccountFolder'> {
  /** Your `KubeConfig` of `@kubernetes/client-node` 1 or 2, or an object with the same four methods. */
  readonly kubeConfig?: KubeConfigLike | undefined
  /** The machine's clock unless given. */
  readonly clock?: Clock | undefined
}

/** Durations are milliseconds. */
export interface KubernetesLeaseStoreOptions extends KubernetesClusterOptions, Omit<KubernetesOptions, 'checkAccess'> {
  /** Random numbers from 0 to 1, 1 excluded, for pauses; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
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

const { checkAccess: _, ...storeNames } = kubernetesOptions.names

/** The names of the options of a store in code. */
export const optionNames: OptionNames<KubernetesLeaseStoreOptions> = {
  ...storeNames,
  ...clusterOptionNames,
  random: true,
  logger: true,
}

const misplaced: readonly Misplaced[] = [
  ['kubeConfig', (given) => hasParts(given, 'getCurrentCluster', 'applyToHTTPSOptions')],
  ["kubeconfigFile: '…'", (given) => typeof given === 'string'],
]

/** Throws a `LeaseConfigurationError` if a `KubeConfig` or a path is given in the place of the options `of` a constructor. */
export function checkNoKubeConfig(of: string, given: unknown): void {
  checkMisplaced(of, given, misplaced, 'kubernetes')
}
