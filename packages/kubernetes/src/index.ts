export type { KubeCluster, KubeConfigLike } from './api/kube-config.js'
export { type KubernetesFields, KubernetesGuard } from './kubernetes-guard.js'
export { kubernetesLease } from './kubernetes-lease.js'
export { KubernetesLeaseStore } from './kubernetes-lease-store.js'
export type { KubernetesObject, ObjectMetadata } from './kubernetes-object.js'
export {
  type KubernetesClusterOptions,
  type KubernetesLeaseStoreOptions,
  type KubernetesOptions,
  kubernetesOptions,
  type LayoutName,
} from './kubernetes-options.js'
export type { Spec } from './layouts/layout.js'
export { type LeaseHealth, type LeaseHealthOptions, leaseHealth } from './lease-health.js'
