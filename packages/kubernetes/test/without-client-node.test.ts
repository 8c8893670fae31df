import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { leases } from './support/api-server/test-api-server.js'
import { startServer } from './support/open-store.js'
import { temporaryFolder, writeServiceAccount } from './support/service-account.js'

/** It takes a lease, gives it back, and does nothing more: neither `close` nor `process.exit`. Prints its errors. */
const SERVICE = `
import { createLease } from '@leasehold/core'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
const { FOLDER: serviceAccountFolder, FILE: kubeconfigFile } = process.env
const store = new KubernetesLeaseStore({ serviceAccountFolder, kubeconfigFile })
try {
  const lease = createLease(store, 'job')
  console.log(await lease.acquire(), await lease.release())
} catch (error) {
  console.log(error.name + ': ' + error.message)
}
`

const packages = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/** A project that has this package and core, with what they need, and nothing else. */
function install(): string {
  const folder = temporaryFolder()
  const modules = join(folder, 'node_modules')
  for (const id of ['core', 'kubernetes']) {
    const target = join(modules, '@leasehold', id)
    mkdirSync(target, { recursive: true })
    for (const part of ['src', 'package.json'])
      cpSync(join(packages, id, part), join(target, part), { recursive: true })
  }
  for (const name of ['eventemitter3', 'fastest-levenshtein', 'nanoid']) {
    symlinkSync(join(packages, '..', 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(folder, 'service.mjs'), SERVICE)
  return folder
}

/** What the service prints. Rejects if the process does not end by itself. */
async function serve(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const options = ['--import', import.meta.resolve('tsx'), '--conditions', '@leasehold/source']
  const { PATH } = process.env
  const { stdout } = await run(process.execPath, [...options, 'service.mjs'], {
    cwd: folder,
    env: { PATH, HOME: folder, FOLDER: folder, ...env },
    timeout: 60_000,
  })
  return stdout.trim()
}

it('without client-node, a lease is held in a pod, and the kept connections do not keep the process alive', async () => {
  const server = await startServer()
  const folder = install()
  await writeServiceAccount(folder, 'admin')
  const pod = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) }
  expect(await serve(folder, pod)).toBe('true true')
  expect(server.get(leases, 'job')).toBeDefined()
})

it('without client-node, a kubeconfig is an error that says what to install, and none at all what to set', async () => {
  const folder = install()
  const needed =
    'LeaseConfigurationError: a kubeconfig needs @kubernetes/client-node: npm install @kubernetes/client-node@1. ' +
    'Version 2 needs Node 22. In a pod, the service account is enough: leave out kubeconfigFile and KUBECONFIG'
  const [named, none] = await Promise.all([serve(folder, { FILE: 'config' }), serve(folder, {})])
  expect(named).toContain(needed)
  expect(none).toContain('LeaseConfigurationError: no Kubernetes cluster is configured')
  mkdirSync(join(folder, '.kube'))
  writeFileSync(join(folder, '.kube', 'config'), '')
  expect(await serve(folder, {})).toContain(needed)
})
