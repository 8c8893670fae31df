// #region open
import { KubeConfig } from '@kubernetes/client-node'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'

export function openStore(): KubernetesLeaseStore {
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromDefault()
  return new KubernetesLeaseStore({ kubeConfig })
}
// #endregion open
