import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { certificate, silentLogger } from '@leasehold/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { describeReal } from '../support/describe-real.js'
import { kubeConfigOf } from '../support/kube-config-for.js'
import { call } from '../support/open-store.js'

const PATIENCE = { timeout: 30_000, interval: 100 }

describeReal((server) => {
  /** The error of a claim in a namespace of its own, as soon as the server refuses claims there. */
  async function refusalIn(namespace: string): Promise<unknown> {
    const store = new KubernetesLeaseStore({
      kubeConfig: await kubeConfigOf(server()),
      logger: silentLogger,
      namespace,
    })
    onTestFinished(() => store.close())
    const claim = (name: string) => store.acquire({ name, owner: 'me', grantId: name, ttl: 15_000 }, call)
    let names = 0
    return await vi.waitFor(async () => {
      names += 1
      return await claim(`job-${names}`).then(
        () => expect.fail('it is not refused yet'),
        (error: unknown) => error,
      )
    }, PATIENCE)
  }

  async function write(method: string, path: string, body?: object): Promise<void> {
    const status = await server().ask(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path} was answered with ${status}`)
  }

  async function makeNamespace(name: string, labels = {}): Promise<void> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
    await write('POST', '/api/v1/namespaces', namespace)
  }

  it('that deletes the namespace says so', async () => {
    await makeNamespace('ending')
    await write('DELETE', '/api/v1/namespaces/ending')
    const message = expect.stringContaining("namespace 'ending' is being deleted")
    expect(await refusalIn('ending')).toMatchObject({ code: 'configuration', message })
  }, 60_000)

  it('with a quota that is used up says so', async () => {
    await makeNamespace('few')
    const spec = { hard: { 'count/leases.coordination.k8s.io': '1' } }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec }
    await write('POST', '/api/v1/namespaces/few/resourcequotas', quota)
    // A controller would count.
    const status = { hard: spec.hard, used: spec.hard }
    await write('PUT', '/api/v1/namespaces/few/resourcequotas/few/status', { ...quota, status })
    const message = expect.stringContaining("the quota of namespace 'few' is used up")
    await vi.waitFor(
      async () => expect(await refusalIn('few')).toMatchObject({ code: 'configuration', message }),
      PATIENCE,
    )
  }, 60_000)

  it('with a webhook that denies the write says so', async () => {
    await makeNamespace('denied', { frozen: 'yes' })
    const { key, cert } = await certificate()
    const webhook = createServer({ key, cert }, async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      const { request: asked } = JSON.parse(text) as { request: { uid: string } }
      const denied = { uid: asked.uid, allowed: false, status: { code: 403, message: 'leases are frozen' } }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: denied }))
    }).listen(0, '127.0.0.1')
    await once(webhook, 'listening')
    onTestFinished(() => void webhook.close())
    const { port } = webhook.address() as AddressInfo
    await write('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'frozen' },
      webhooks: [
        {
          name: 'no.leases.dev',
          clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(cert).toString('base64') },
          rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['leases'] }],
          namespaceSelector: { matchLabels: { frozen: 'yes' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    const error = await refusalIn('denied')
    expect(error).toMatchObject({ code: 'unauthorised' })
    const { message } = error as Error
    expect(message).toContain('an admission webhook or policy of the cluster refuses the write (403)')
    expect(message).toContain('"no.leases.dev" denied the request: leases are frozen')
  }, 60_000)
})
