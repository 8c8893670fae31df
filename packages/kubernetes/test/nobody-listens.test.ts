import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { freePort } from '@leasehold/testing/free-port'
import { expect, it } from 'vitest'
import { kubeConfigFor } from './support/kube-config-for.js'
import { call } from './support/open-store.js'

it('where nobody listens, the error says so, and what to check, and not that the request may have been applied', async () => {
  const kubeConfig = await kubeConfigFor(await freePort())
  const store = new KubernetesLeaseStore({ kubeConfig, logger: silentLogger })
  await expect(store.read('job', call)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(
      /^the API server cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:\d+\. Check its address \(server in the kubeconfig, KUBERNETES_SERVICE_HOST in a pod\), and whether it runs$/,
    ),
  })
  await store.close()
})
