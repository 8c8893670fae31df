import { LeaseConfigurationError, LeaseLostError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { KubernetesGuard } from '@leasehold/kubernetes'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configMaps, leases, type TestApiServer } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

const settings = 'v1/configmaps/settings'
const TOKEN = 'leasehold.dev/fencing-token'

async function guardOn(server: TestApiServer, token?: string): Promise<KubernetesGuard> {
  const guard = new KubernetesGuard({ kubeConfig: await kubeConfigFor(server.port, token), namespace: 'default' })
  onTestFinished(() => guard.close())
  return guard
}

async function setUp() {
  const server = await startServer()
  server.plant(configMaps, 'settings', { metadata: { labels: { app: 'x' } }, data: { colour: 'red' } })
  const data = () => server.get(configMaps, 'settings')?.data
  return { server, guard: await guardOn(server), data }
}

const painted = (colour: string) => (object: object) => ({ ...object, data: { colour } })

describe('a guarded object', () => {
  it('is written under the token of the lease, and keeps it', async () => {
    const { server, guard, data } = await setUp()
    const { fencingToken } = await granted(await openStore(server.port))
    const written = await guard.transact(settings, fencingToken, painted('blue'))
    expect(data()).toEqual({ colour: 'blue' })
    expect(written.metadata.annotations).toEqual({ [TOKEN]: String(fencingToken) })
    expect(written.metadata.labels).toEqual({ app: 'x' })
  })

  it('is written again under the same token, and under a larger one', async () => {
    const { guard, data } = await setUp()
    for (const token of [7n, 7n, 12n]) await guard.transact(settings, token, painted(`colour of ${token}`))
    expect(data()).toEqual({ colour: 'colour of 12' })
  })

  it('is changed once where the connection ends before the answer, and the outcome is unknown', async () => {
    const { server, guard, data } = await setUp()
    let isOver = false
    server.disturb = ({ method }) => {
      if (isOver || method !== 'PUT') return undefined
      isOver = true
      return { drop: true, applied: true }
    }
    const counted = guard.transact(settings, 7n, (object) => {
      const { count = 0 } = Object((object as { data?: unknown }).data) as { count?: number }
      return { ...object, data: { count: count + 1 } }
    })
    await expect(counted).rejects.toThrow(LeaseUnavailableError)
    await expect(counted).rejects.toThrow('The request may have been applied')
    expect(data()).toEqual({ count: 1 })
  })

  it('is not written by a holder that has lost its lease without noticing', async () => {
    const { server, guard, data } = await setUp()
    const store = await openStore(server.port)
    const old = await granted(store)
    await store.release(old, call)
    const next = await granted(store)
    await guard.transact(settings, next.fencingToken, painted('of the successor'))
    const late = guard.transact(settings, old.fencingToken, painted('of the late'))
    await expect(late).rejects.toBeInstanceOf(LeaseLostError)
    await expect(late).rejects.toMatchObject({ reason: 'taken' })
    expect(data()).toEqual({ colour: 'of the successor' })
  })

  it('is not written by a late writer that had read it before its successor wrote', async () => {
    const { server, guard, data } = await setUp()
    const late = guard.transact(settings, 7n, (object) => {
      const annotations = { [TOKEN]: '8' }
      server.plant(configMaps, 'settings', { metadata: { annotations }, data: { colour: 'of the successor' } })
      return painted('of the late')(object)
    })
    await expect(late).rejects.toBeInstanceOf(LeaseLostError)
    expect(data()).toEqual({ colour: 'of the successor' })
  })

  it('is read again when another writer was faster', async () => {
    const { server, guard, data } = await setUp()
    const seen: unknown[] = []
    await guard.transact(settings, 7n, (object) => {
      seen.push(object.data)
      if (seen.length === 1) server.plant(configMaps, 'settings', { data: { colour: 'green' } })
      return painted(`after ${JSON.stringify(object.data)}`)(object)
    })
    expect(seen).toEqual([{ colour: 'red' }, { colour: 'green' }])
    expect(data()).toEqual({ colour: 'after {"colour":"green"}' })
  })

  it('that others write again and again rejects as unknown', async () => {
    const { server, guard } = await setUp()
    let writes = 0
    const update = guard.transact(settings, 7n, (object) => {
      writes += 1
      server.plant(configMaps, 'settings', { data: { writes: String(writes) } })
      return object
    })
    await expect(update).rejects.toBeInstanceOf(LeaseUnavailableError)
  })

  it('keeps its version and its uid, whatever the change returns', async () => {
    const { server, guard } = await setUp()
    const uid = server.get(configMaps, 'settings')?.metadata.uid
    await guard.transact(settings, 7n, (object) => ({ ...object, metadata: { resourceVersion: '1', uid: 'another' } }))
    expect(server.get(configMaps, 'settings')?.metadata).toMatchObject({ uid, annotations: { [TOKEN]: '7' } })
  })
})

describe('the path of an object', () => {
  it('has a group and a namespace where they are needed', async () => {
    const { server, guard } = await setUp()
    server.plant(leases, 'web', { spec: { holderIdentity: 'a' } })
    await guard.write('coordination.k8s.io/v1/leases/web', 7n, { spec: { holderIdentity: 'b' } })
    expect(server.get(leases, 'web')?.spec).toEqual({ holderIdentity: 'b' })
    await guard.write('coordination.k8s.io/v1/namespaces/default/leases/web', 8n, { spec: { holderIdentity: 'c' } })
    expect(server.get(leases, 'web')?.spec).toEqual({ holderIdentity: 'c' })
    const elsewhere = guard.write('v1/namespaces/other/configmaps/settings', 7n, { data: {} })
    await expect(elsewhere).rejects.toThrow(LeaseConfigurationError)
  })

  it.each(['settings', 'configmaps/settings', 'v1/settings', '/v1/configmaps/settings', 'v1/configmaps/a/b'])(
    'is not %s',
    async (resource) => {
      const { guard } = await setUp()
      await expect(guard.write(resource, 7n, {})).rejects.toThrow(`'${resource}' is not the path of an object`)
    },
  )
})

describe('an invalid write', () => {
  it('is one to a missing object, with an invalid token, or that the server rejects', async () => {
    const { server, guard } = await setUp()
    const missing = guard.transact('v1/configmaps/missing', 7n, (object) => object)
    await expect(missing).rejects.toThrow("configmaps 'missing' does not exist: create it first")
    await expect(guard.transact(settings, -1n, (object) => object)).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(guard.transact(settings, 7 as never, (object) => object)).rejects.toThrow('must be a bigint')
    server.tokens.set('limited', ['get'])
    const limited = (await guardOn(server, 'limited')).transact(settings, 7n, (object) => object)
    await expect(limited).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    await expect(limited).rejects.toThrow('resources: ["configmaps"]\n    verbs: ["get", "update"] # missing: update')
    server.plant(configMaps, 'settings', { metadata: { annotations: { [TOKEN]: 'a lot' } } })
    await expect(guard.transact(settings, 7n, (object) => object)).rejects.toThrow('Repair or remove it')
  })
})
