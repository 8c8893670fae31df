import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificate } from '@leasehold/testing'
import { onTestFinished, vi } from 'vitest'

/** The variables that name a cluster. */
const NAMING = ['KUBECONFIG', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT']

/** For `beforeEach`: the tests can run in a cluster, or on a machine with a kubeconfig. */
export function outsideOfClusters(): () => void {
  for (const name of NAMING) vi.stubEnv(name, undefined)
  vi.stubEnv('HOME', temporaryFolder())
  return () => vi.unstubAllEnvs()
}

/** A folder until the end of the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-kubernetes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes what a kubelet mounts into a pod. `ca`: that of the servers of the tests unless given. */
export async function writeServiceAccount(
  folder: string,
  token: string,
  { namespace = 'default', ca }: { readonly namespace?: string; readonly ca?: string | undefined } = {},
): Promise<void> {
  writeFileSync(join(folder, 'token'), token)
  writeFileSync(join(folder, 'namespace'), namespace)
  writeFileSync(join(folder, 'ca.crt'), ca ?? (await certificate()).cert)
}

/** Makes this process one of a pod whose API server is at this port, and returns the folder of its service account. */
export async function mountServiceAccount(
  { port }: { readonly port: number },
  token: string,
  namespace = 'default',
  ca?: string,
): Promise<string> {
  const folder = temporaryFolder()
  await writeServiceAccount(folder, token, { namespace, ca })
  enterCluster(port)
  return folder
}

/** Sets the variables of a pod. */
export function enterCluster(port: number, host = '127.0.0.1'): void {
  vi.stubEnv('KUBERNETES_SERVICE_HOST', host)
  vi.stubEnv('KUBERNETES_SERVICE_PORT', String(port))
}
