import type { LeaseRecord, LeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { akkaLeases, leases, type TestApiServer } from './support/api-server/test-api-server.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

const encoded = ['Job 1', 'a/b', 'заявка', `${'x'.repeat(400)}`, `${'x'.repeat(400)}y`, 'leasehold--job']

async function recordsOf(store: LeaseStore, prefix = ''): Promise<LeaseRecord[]> {
  const records: LeaseRecord[] = []
  for await (const record of store.list?.(prefix, call) ?? []) records.push(record)
  return records
}

const namesOf = async (store: LeaseStore, prefix?: string): Promise<string[]> =>
  (await recordsOf(store, prefix)).map(({ name }) => name).sort()

function plantMany(server: TestApiServer, count: number): void {
  for (let number = 0; number < count; number += 1) {
    server.plant(leases, `go-${String(number).padStart(4, '0')}`, { spec: { holderIdentity: 'go' } })
  }
}

const pagesOf = ({ requests }: TestApiServer) => requests.filter(({ query }) => query.has('limit')).length

it.each(['lease', 'akka', 'pekko'] as const)(
  'the layout %s lists names as given, held and released',
  async (layout) => {
    const server = await startServer()
    const store = await openStore(server.port, { layout })
    for (const name of ['job', ...encoded]) {
      const grant = await granted(store, { name })
      if (name === 'a/b') await store.release(grant, call)
    }
    expect(await namesOf(store)).toEqual(['job', ...encoded].sort())
    expect(await namesOf(store, 'xx')).toEqual(encoded.filter((name) => name.startsWith('xx')).sort())
    const [free] = await recordsOf(store, 'a/')
    expect(free).toMatchObject({ name: 'a/b', state: 'available' })
    const [held] = await recordsOf(store, 'job')
    expect(held).toMatchObject({ name: 'job', owner: 'me', state: 'leased' })
    expect(held?.fencingToken).toBeGreaterThan(0n)
  },
)

it('the leases of Go electors are listed, in pages of 500', async () => {
  const server = await startServer()
  const store = await openStore(server.port)
  plantMany(server, 1_200)
  const records = await recordsOf(store, 'go-')
  expect(new Set(records.map(({ name }) => name)).size).toBe(1_200)
  expect(records.length).toBe(1_200)
  expect(records[0]).toMatchObject({ owner: 'go', state: 'leased' })
  expect(pagesOf(server)).toBe(3)
})

it.each([
  ['continues behind the last page with the token in the answer', true],
  ['starts again, without duplicates, where the answer has no token', false],
])('a listing whose continue token expired %s', async (_, hasToken) => {
  const server = await startServer()
  const store = await openStore(server.port)
  plantMany(server, 1_200)
  const expired = { status: 410, body: { kind: 'Status', code: 410, reason: 'Expired', metadata: {} } }
  let expiries = 0
  server.disturb = ({ query }) => {
    if (!query.has('continue') || expiries === 1) return undefined
    expiries = 1
    server.plant(leases, 'created-meanwhile', {})
    server.store.compact()
    return hasToken ? undefined : { reply: expired }
  }
  const names = await namesOf(store, 'go-')
  expect(names.length).toBe(1_200)
  expect(new Set(names).size).toBe(1_200)
  expect(server.answered.filter((status) => status === 410).length).toBe(hasToken ? 1 : 0)
  expect(pagesOf(server)).toBe(hasToken ? 4 : 5)
})

it('an object of an earlier version, without the annotation, is listed under the decoded name', async () => {
  const server = await startServer()
  server.plant(leases, 'leasehold---4aob-201', {})
  server.plant(leases, 'leasehold---d0-b7', {})
  expect(await namesOf(await openStore(server.port))).toEqual(['Job 1', 'з'])
})

it('an object is left out if its annotation was changed, or its name is not that of a lease', async () => {
  const server = await startServer()
  const store = await openStore(server.port)
  server.plant(leases, 'leasehold---61', {})
  server.plant(leases, 'leasehold---62', { metadata: { annotations: { 'leasehold.dev/name': 'other' } } })
  server.plant(leases, 'plain', { metadata: { annotations: { 'leasehold.dev/name': 'other' } } })
  expect(await namesOf(store)).toEqual([])
  await granted(store, { name: 'Other' })
  expect(await namesOf(store)).toEqual(['Other'])
})

it('a missing permission to list is an error with the Role', async () => {
  const server = await startServer()
  server.tokens.set('worker', ['get', 'create', 'update', 'watch'])
  const store = await openStore(server.port, { token: 'worker' })
  await expect(recordsOf(store)).rejects.toThrow('verbs: ["get", "create", "update", "watch", "list"] # missing: list')
})

it('an answer that is not a list rejects', async () => {
  const server = await startServer()
  const store = await openStore(server.port)
  server.disturb = () => ({ reply: { status: 200, body: { items: [{ metadata: {} }] } } })
  await expect(recordsOf(store)).rejects.toThrow('the answer is not a list of objects')
})

it('previous is unknown after a JVM or a Go elector held the lease, though an earlier holder left metadata', async () => {
  const server = await startServer()
  for (const [layout, kind, empty] of [
    ['akka', akkaLeases, { owner: '' }],
    ['lease', leases, { holderIdentity: '', leaseTransitions: 2 }],
  ] as const) {
    const store = await openStore(server.port, { layout })
    await store.release(await granted(store), call, { step: '1' })
    const kept = server.get(kind, 'job')?.metadata.annotations as Record<string, string>
    // client-go keeps the annotations of a Lease; a JVM sends none.
    server.plant(kind, 'job', { ...(layout === 'lease' ? { metadata: { annotations: kept } } : {}), spec: empty })
    const outcome = await store.acquire({ name: 'job', owner: 'me', grantId: 'g', ttl: 15_000 }, call)
    expect(outcome).toMatchObject({ granted: true })
    expect(outcome).not.toHaveProperty('previous')
    await store.close()
  }
})

it('an object of an earlier version, without previous, can be acquired, updated and released', async () => {
  const server = await startServer()
  const annotations = {
    'leasehold.dev/grant': '{"id":"old","ttl":15000,"token":"7","metadata":{"a":"b"},"transitions":0}',
  }
  const spec = { holderIdentity: 'me_old', leaseDurationSeconds: 15, leaseTransitions: 0 }
  server.plant(leases, 'job', { metadata: { annotations }, spec })
  const store = await openStore(server.port)
  const grant = { name: 'job', owner: 'me', grantId: 'old', fencingToken: 7n, ttl: 15_000 }
  expect(await store.update(grant, { c: 'd' }, call)).toEqual({ renewed: true })
  expect(await store.read('job', call)).toMatchObject({ metadata: { c: 'd' }, fencingToken: 7n })
  expect(await store.release(grant, call)).toEqual({ released: true })
  const next = await store.acquire({ name: 'job', owner: 'you', grantId: 'new', ttl: 15_000 }, call)
  expect(next).toMatchObject({ granted: true, previous: { c: 'd' } })
})
