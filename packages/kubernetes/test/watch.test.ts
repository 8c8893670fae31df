import { createLease, type StoreLease } from '@leasehold/core'
import { describe, expect, it, vi } from 'vitest'
import type { KubernetesLeaseStore } from '../src/kubernetes-lease-store.js'
import { leases, type TestApiServer } from './support/api-server/test-api-server.js'
import { granted, openStore, signal, startServer } from './support/open-store.js'
import { silentLogger } from './support/silent-logger.js'

/** Settings under which a poll alone would come far too late for these tests. */
const PATIENT = { heartbeatTimeout: 600_000, heartbeatInterval: 60_000, operationTimeout: 5_000, logger: silentLogger }

const FOREVER = { wait: Number.POSITIVE_INFINITY }

const watches = (server: TestApiServer) => server.requests.filter(({ query }) => query.has('watch'))
const gets = (server: TestApiServer) =>
  server.requests.filter(({ method, query }) => method === 'GET' && !query.has('watch')).length

/** Somebody who holds the lease, and somebody who waits for it, with a watch that is up. */
async function contention(): Promise<{
  server: TestApiServer
  holder: StoreLease
  waiting: Promise<boolean>
  store: KubernetesLeaseStore
}> {
  const server = await startServer()
  const holder = createLease(await openStore(server.port), 'job', PATIENT)
  await holder.acquire()
  const store = await openStore(server.port)
  const waiting = createLease(store, 'job', PATIENT).acquire(FOREVER)
  await watchIsUp(server, 1)
  return { server, holder, waiting, store }
}

async function watchIsUp(server: TestApiServer, count: number): Promise<void> {
  await vi.waitFor(() => expect(watches(server).length).toBeGreaterThanOrEqual(count), 20_000)
}

describe('who waits', () => {
  it('watches the one object, from the version that it has seen, with bookmarks', async () => {
    const { server, holder, waiting } = await contention()
    const version = server.get(leases, 'job')?.metadata.resourceVersion
    const [watch] = watches(server)
    expect(watch?.path).toBe('/apis/coordination.k8s.io/v1/namespaces/default/leases')
    expect(Object.fromEntries(watch?.query ?? [])).toEqual({
      watch: '1',
      allowWatchBookmarks: 'true',
      fieldSelector: 'metadata.name=job',
      resourceVersion: version,
      timeoutSeconds: expect.stringMatching(/^\d+$/),
    })
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('is told of a release', async () => {
    const { holder, waiting } = await contention()
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('is told of a deletion', async () => {
    const { server, waiting } = await contention()
    server.remove(leases, 'job')
    expect(await waiting).toBe(true)
  })

  it('asks nothing while the holder only renews, nor is it told of other objects', async () => {
    const { server, holder, waiting } = await contention()
    const before = gets(server)
    const store = await openStore(server.port)
    const other = await granted(store, { name: 'other' })
    for (let beat = 0; beat < 20; beat += 1) {
      await store.renew(other, signal)
      server.plant(leases, 'job', {
        metadata: { ...server.get(leases, 'job')?.metadata },
        spec: { ...server.get(leases, 'job')?.spec, leaseTransitions: beat + 1 },
      })
    }
    expect(gets(server)).toBe(before + 1)
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('goes on when the watch ends in good order, from where it ended', async () => {
    const { server, holder, waiting } = await contention()
    await granted(await openStore(server.port), { name: 'other' })
    const bookmark = String(server.store.revision)
    server.endWatches()
    await watchIsUp(server, 2)
    expect(watches(server)[1]?.query.get('resourceVersion')).toBe(bookmark)
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('goes on when the watch breaks, and learns what happened meanwhile', async () => {
    const { server, holder, waiting } = await contention()
    for (let broken = 1; broken <= 3; broken += 1) {
      server.breakWatches()
      await watchIsUp(server, broken + 1)
    }
    server.disturb = ({ query }) => (query.has('watch') ? { drop: true } : undefined)
    server.breakWatches()
    await watchIsUp(server, 5)
    await holder.release()
    server.disturb = () => undefined
    expect(await waiting).toBe(true)
  })

  it('begins anew when the version of its watch is forgotten, told by an event or by the answer', async () => {
    const { server, holder, waiting } = await contention()
    await granted(await openStore(server.port), { name: 'other' })
    server.store.compact()
    server.breakWatches()
    await watchIsUp(server, 3)
    expect(watches(server)[2]?.query.has('resourceVersion')).toBe(false)
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('begins anew after a 410, too', async () => {
    const { server, holder, waiting } = await contention()
    let isGone = true
    server.disturb = ({ query }) => {
      if (!query.has('watch') || !isGone) return undefined
      isGone = false
      return { reply: { status: 410, body: { kind: 'Status', reason: 'Expired', code: 410 } } }
    }
    server.breakWatches()
    await watchIsUp(server, 3)
    expect(watches(server)[2]?.query.has('resourceVersion')).toBe(false)
    await holder.release()
    expect(await waiting).toBe(true)
  })
})

describe('a watch', () => {
  it('leaves no connection behind when the waiting ends, however it ends', async () => {
    const { server, holder, waiting } = await contention()
    const given = new AbortController()
    const second = createLease(await openStore(server.port), 'job', PATIENT)
    const impatient = second.acquire({ ...FOREVER, signal: given.signal })
    await watchIsUp(server, 2)
    given.abort(new Error('no more'))
    await expect(impatient).rejects.toThrow('no more')
    await vi.waitFor(() => expect(server.watching).toBe(1))
    await holder.release()
    expect(await waiting).toBe(true)
    await vi.waitFor(() => expect(server.watching).toBe(0))
  })

  it('is not needed: who may not watch, or does not want to, polls', async () => {
    const server = await startServer()
    server.tokens.set('limited', ['get', 'create', 'update'])
    const quick = { ...PATIENT, heartbeatTimeout: 3_000, heartbeatInterval: 500, operationTimeout: 1_000 }
    const holder = createLease(await openStore(server.port), 'job', PATIENT)
    await holder.acquire()
    const waiting = [
      createLease(await openStore(server.port, { token: 'limited' }), 'job', quick),
      createLease(await openStore(server.port, { watch: false }), 'job', quick),
    ].map(async (lease) => {
      const got = await lease.acquire(FOREVER)
      await lease.release()
      return got
    })
    await watchIsUp(server, 1)
    await holder.release()
    expect(await Promise.all(waiting)).toEqual([true, true])
  })
})
