import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder, turnsOf } from '@leasehold/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openStore } from './readme/own-config.js'
import { reportOnce } from './readme/report.js'
import { configMaps, leases } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'
import { granted, startServer } from './support/open-store.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

it('gives two processes with the first program of the guide their turns', async () => {
  const server = await startServer()
  const KUBECONFIG = join(temporaryFolder(), 'config')
  writeFileSync(KUBECONFIG, (await kubeConfigFor(server.port)).exportConfig())
  expect(new Set(await turnsOf(firstLease, { KUBECONFIG })).size).toBe(2)
})

it('the example of the README writes under the lease and the guard', async () => {
  const server = await startServer()
  server.plant(configMaps, 'latest-report', { data: {} })
  const kubeConfig = await kubeConfigFor(server.port)
  await reportOnce(async () => 'first', { kubeConfig, namespace: 'default' })
  await reportOnce(async () => 'second', { kubeConfig, namespace: 'default' })
  expect(server.get(configMaps, 'latest-report')?.data).toEqual({ text: 'second' })
  expect(server.get(leases, 'report')?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 1 })
})

it('the KubeConfig of the guide is that of the user', async () => {
  const server = await startServer()
  const file = join(temporaryFolder(), 'config')
  writeFileSync(file, (await kubeConfigFor(server.port)).exportConfig())
  vi.stubEnv('KUBECONFIG', file)
  onTestFinished(() => void vi.unstubAllEnvs())
  const store = openStore()
  await granted(store)
  await store.close()
  expect(server.get(leases, 'job')).toBeDefined()
})
