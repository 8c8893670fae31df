import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { KubernetesLeaseStore, type KubernetesLeaseStoreOptions } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { onTestFinished } from 'vitest'
import { TestApiServer } from './api-server/test-api-server.js'
import { kubeConfigFor } from './kube-config-for.js'

export const call = new AbortableCall()

/** A server of its own for a test. */
export async function startServer(): Promise<TestApiServer> {
  const server = await TestApiServer.start()
  onTestFinished(() => server.stop())
  return server
}

/** A store of its own, as every process has one. */
export async function openStore(
  port: number,
  options: KubernetesLeaseStoreOptions & { readonly token?: string } = {},
): Promise<KubernetesLeaseStore> {
  const { token, ...others } = options
  const store = new KubernetesLeaseStore({
    kubeConfig: await kubeConfigFor(port, token),
    logger: silentLogger,
    ...others,
  })
  onTestFinished(() => store.close())
  return store
}

/** A grant that has to be had. */
export async function granted(
  store: LeaseStore,
  { name = 'job', owner = 'me', grantId = crypto.randomUUID() as string, ttl = 15_000 } = {},
): Promise<Grant> {
  const outcome = await store.acquire({ name, owner, grantId, ttl }, call)
  if (!outcome.granted) throw new Error(`not granted: held by ${outcome.holder?.owner}`)
  return outcome.grant
}
