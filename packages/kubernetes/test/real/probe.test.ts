import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { expect, it, onTestFinished } from 'vitest'
import { describeReal } from '../support/describe-real.js'
import { kubeConfigOf } from '../support/kube-config-for.js'
import { call } from '../support/open-store.js'

describeReal((server) => {
  it('that grants all verbs passes the probe', async () => {
    const store = new KubernetesLeaseStore({ kubeConfig: await kubeConfigOf(server()), logger: silentLogger })
    onTestFinished(() => store.close())
    expect(await store.probe(call)).toEqual([{ check: 'permissions', result: 'ok' }])
  }, 60_000)

  it('without a role: the probe names all verbs that the user lacks', async () => {
    const kubeConfig = await kubeConfigOf(server(), 'nobody')
    const store = new KubernetesLeaseStore({ kubeConfig, logger: silentLogger })
    onTestFinished(() => store.close())
    expect(await store.probe(call)).toMatchObject([
      { check: 'permissions', result: 'failed', found: expect.stringContaining('lacks the verbs get, create, update') },
    ])
  }, 60_000)
})
