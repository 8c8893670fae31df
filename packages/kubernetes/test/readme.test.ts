import { expect, it } from 'vitest'
import { reportOnce } from './readme/report.js'
import { configMaps, leases } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'
import { startServer } from './support/open-store.js'

it('the example of the README writes under the lease and the guard', async () => {
  const server = await startServer()
  server.plant(configMaps, 'latest-report', { data: {} })
  const kubeConfig = await kubeConfigFor(server.port)
  await reportOnce(async () => 'first', { kubeConfig, namespace: 'default' })
  await reportOnce(async () => 'second', { kubeConfig, namespace: 'default' })
  expect(server.get(configMaps, 'latest-report')?.data).toEqual({ text: 'second' })
  expect(server.get(leases, 'report')?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 1 })
})
