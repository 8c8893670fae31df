import { createLease } from '@leasehold/core'
import { KubernetesLeaseStore, type KubernetesLeaseStoreOptions } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { describeReal } from '../support/describe-real.js'
import { kubeConfigOf } from '../support/kube-config-for.js'
import { call, granted } from '../support/open-store.js'

const PATIENCE = { timeout: 60_000, interval: 20 }

describeReal((server) => {
  async function open(options: KubernetesLeaseStoreOptions & { readonly token?: string } = {}) {
    const { token, ...others } = options
    const store = new KubernetesLeaseStore({
      kubeConfig: await kubeConfigOf(server(), token),
      logger: silentLogger,
      ...others,
    })
    onTestFinished(() => store.close())
    return store
  }

  it('that is frozen for a moment costs no holder the lease', { timeout: 90_000 }, async () => {
    const times = { heartbeatTimeout: 20_000, heartbeatInterval: 1_000, operationTimeout: 1_500 }
    const lease = createLease(await open(), 'frozen', { ...times, logger: silentLogger })
    const events: string[] = []
    for (const event of ['jeopardy', 'recovered', 'lost'] as const) lease.on(event, () => void events.push(event))
    await lease.acquire()
    server().freeze()
    await vi.waitFor(() => expect(events).toContain('jeopardy'), PATIENCE)
    server().thaw()
    await vi.waitFor(() => expect(events).toContain('recovered'), PATIENCE)
    expect(events).not.toContain('lost')
    await lease.release()
  })

  it('that is killed and started again keeps its grants, and its tokens go on growing', {
    timeout: 120_000,
  }, async () => {
    const store = await open()
    const grant = await granted(store, { name: 'restarted', ttl: 600_000 })
    await server().restart()
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    await store.release(grant, call)
    expect((await granted(store, { name: 'restarted' })).fencingToken).toBeGreaterThan(grant.fencingToken)
  })

  it('that grants get and create, but not update, refuses a claim of a new name before it writes', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/limited'
    const allow = (verbs: string[]) => ({
      metadata: { name: 'leases' },
      rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs }],
    })
    expect(await server().ask('POST', '/api/v1/namespaces', { metadata: { name: 'limited' } })).toBe(201)
    expect(await server().ask('POST', `${rbac}/roles`, allow(['get', 'create', 'watch']))).toBe(201)
    const binding = {
      metadata: { name: 'leases' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'leases' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'nobody' }],
    }
    expect(await server().ask('POST', `${rbac}/rolebindings`, binding)).toBe(201)
    const store = await open({ token: 'nobody', namespace: 'limited' })
    const refusal = 'could be acquired, but not renewed'
    // The server takes a moment to know a role and its binding.
    await vi.waitFor(() => expect(granted(store, { name: 'x' })).rejects.toThrow(refusal), PATIENCE)
    expect(await server().ask('GET', '/apis/coordination.k8s.io/v1/namespaces/limited/leases/x')).toBe(404)
    expect(await server().ask('PUT', `${rbac}/roles/leases`, allow(['get', 'create', 'update', 'watch']))).toBe(200)
    await vi.waitFor(() => granted(store, { name: 'x' }), PATIENCE)
  })

  it('names a missing permission, namespace, CRD, or credentials', async () => {
    const nobody = await open({ token: 'nobody' })
    await expect(granted(nobody, { name: 'x' })).rejects.toThrow("the verb 'get' on leases.coordination.k8s.io")
    await expect(nobody.checkAccess('x')).rejects.toThrow('lacks the verbs get, create, update')
    const stranger = await open({ token: 'stranger' })
    await expect(granted(stranger, { name: 'x' })).rejects.toThrow('rejects the credentials')
    const nowhere = await open({ namespace: 'nowhere' })
    await expect(granted(nowhere, { name: 'x' })).rejects.toThrow("namespace 'nowhere' does not exist")
    await expect(nowhere.checkAccess('x')).rejects.toThrow("namespace 'nowhere' does not exist")
    const akka = await open({ layout: 'akka' })
    await expect(granted(akka, { name: 'x' })).rejects.toThrow('manifests/leases.akka.io.yaml')
    await expect(akka.checkAccess('x')).rejects.toThrow('manifests/leases.akka.io.yaml')
    expect(await (await open()).checkAccess('x')).toEqual([])
    expect(await server().ask('GET', '/apis/coordination.k8s.io/v1/namespaces/default/leases/x')).toBe(404)
  })
})
