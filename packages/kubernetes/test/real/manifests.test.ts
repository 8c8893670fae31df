import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadAllYaml } from '@kubernetes/client-node'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { expect, it, onTestFinished } from 'vitest'
import { describeReal } from '../support/describe-real.js'
import { kubeConfigOf } from '../support/kube-config-for.js'
import { call, granted } from '../support/open-store.js'

interface Manifest {
  readonly kind: string
  readonly [field: string]: unknown
}

const read = (path: string): Manifest[] => loadAllYaml(readFileSync(new URL(path, import.meta.url), 'utf8'))

describeReal((server) => {
  async function open(layout: 'lease' | 'akka' | 'pekko', token?: string): Promise<KubernetesLeaseStore> {
    const kubeConfig = await kubeConfigOf(server(), token)
    const store = new KubernetesLeaseStore({ kubeConfig, layout, namespace: 'default', logger: silentLogger })
    onTestFinished(() => store.close())
    return store
  }

  it('with the Role that is shipped, and no more, leases can be held, waited for and given back', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    const [role = { kind: '' }, binding = { kind: '' }] = read('../../manifests/role.yaml')
    expect(await server().ask('POST', `${rbac}/roles`, role)).toBe(201)
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'nobody' }]
    expect(await server().ask('POST', `${rbac}/rolebindings`, { ...binding, subjects })).toBe(201)
    const store = await open('lease', 'nobody')
    let missing: unknown = 'everything'
    // The server takes a moment to heed them.
    for (let asked = 0; asked < 100 && missing !== undefined; asked += 1) {
      missing = await store.checkAccess('job').then(
        (sentences) => (sentences.length === 0 ? undefined : sentences),
        (error: unknown) => error,
      )
      if (missing !== undefined) await sleep(100)
    }
    expect(missing).toBeUndefined()
    const grant = await granted(store)
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    expect(await store.release(grant, call)).toEqual({ released: true })
  })

  it.each([
    ['akka', 'leases.akka.io.yaml'],
    ['pekko', 'leases.pekko.apache.org.yaml'],
  ] as const)(
    'with the CRD of %s that is shipped, its leases can be held',
    { timeout: 60_000 },
    async (layout, file) => {
      const store = await open(layout)
      await expect(granted(store, { name: 'job' })).rejects.toThrow(`manifests/${file}`)
      const [crd = { kind: '' }] = read(`../../manifests/${file}`)
      expect(await server().ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)).toBe(201)
      const grant = await retried(() => granted(store))
      expect(await store.renew(grant, call)).toEqual({ renewed: true })
      const other = await store.acquire({ name: 'job', owner: 'other', grantId: 'other', ttl: 15_000 }, call)
      expect(other).toMatchObject({ granted: false, holder: { owner: 'me', fencingToken: grant.fencingToken } })
      await server().ask(
        'DELETE',
        `/apis/${file.slice('leases.'.length, -'.yaml'.length)}/v1/namespaces/default/leases/job`,
      )
      expect(await store.renew(grant, call)).toEqual({ renewed: false, reason: 'deleted' })
    },
  )

  it('takes the Deployment of the example', async () => {
    const paths: Record<string, string> = {
      ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
      Deployment: '/apis/apps/v1/namespaces/default/deployments',
    }
    for (const manifest of read('../../../../examples/kubernetes/deployment.yaml')) {
      expect(await server().ask('POST', `${paths[manifest.kind]}?dryRun=All`, manifest), manifest.kind).toBe(201)
    }
  })
})

/** A kind is served a moment after its CRD was made. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (attempts >= 100) throw error
      await sleep(100)
    }
  }
}
