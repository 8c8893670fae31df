import { KubeConfig } from '@kubernetes/client-node'
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { KubernetesGuard, KubernetesLeaseStore, leaseHealth } from '@leasehold/kubernetes'
import { describe, expect, it } from 'vitest'

const lease = createLease(new MemoryLeaseStore(), 'job')

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['KubernetesLeaseStore', 'nameSpace', 'namespace', (o: object) => new KubernetesLeaseStore(o)],
    ['KubernetesGuard', 'name-space', 'namespace', (o: object) => new KubernetesGuard(o)],
    ['leaseHealth', 'tolerence', 'tolerance', (o: object) => leaseHealth(lease, o)],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})

describe('in the place of the options, a LeaseConfigurationError names the option for', () => {
  it.each([
    ['a KubeConfig', new KubeConfig(), '{ kubeConfig }'],
    ['a path', '/root/.kube/config', "{ kubeconfigFile: '…' }"],
  ])('%s', (_, given, advice) => {
    const message = (of: string): string => `${of} takes an object with options: give ${advice}`
    expect(() => new KubernetesLeaseStore(given as never)).toThrow(message('KubernetesLeaseStore'))
    expect(() => new KubernetesGuard(given as never)).toThrow(message('KubernetesGuard'))
  })
})
