import { createLease, type StoreLease } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import type { KubernetesLeaseStore } from '../src/kubernetes-lease-store.js'
import { leases, type TestApiServer } from './support/api-server/test-api-server.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

/** Settings under which a poll alone would come far too late for these tests. */
const PATIENT = { heartbeatTimeout: 600_000, heartbeatInterval: 60_000, operationTimeout: 5_000, logger: silentLogger }

const FOREVER = { wait: Number.POSITIVE_INFINITY }

/** As long as a slow machine may need, in milliseconds. */
const PATIENCE = { timeout: 60_000, interval: 2 }

const watches = (server: TestApiServer) => server.requests.filter(({ query }) => query.has('watch'))
const gets = (server: TestApiServer) =>
  server.requests.filter(({ method, query }) => method === 'GET' && !query.has('watch')).length

/** A holder that does not watch, and a waiter whose watch is open. */
async function contention(): Promise<{
  server: TestApiServer
  holder: StoreLease
  waiter: StoreLease
  waiting: Promise<boolean>
}> {
  const server = await startServer()
  const holder = createLease(await openStore(server.port, { watch: false }), 'job', PATIENT)
  await holder.acquire()
  const waiter = createLease(await openStore(server.port), 'job', PATIENT)
  const waiting = waiter.acquire(FOREVER)
  await watchIsUp(server, 1)
  return { server, holder, waiter, waiting }
}

async function watchIsUp(server: TestApiServer, count: number): Promise<void> {
  await vi.waitFor(() => expect(watches(server).length).toBeGreaterThanOrEqual(count), 20_000)
}

describe('a waiter', () => {
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

  it('notices a release', async () => {
    const { holder, waiting } = await contention()
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('notices a deletion', async () => {
    const { server, waiting } = await contention()
    server.remove(leases, 'job')
    expect(await waiting).toBe(true)
  })

  it('sends no request while the holder renews, and does not notice other objects', async () => {
    const { server, holder, waiting } = await contention()
    const before = gets(server)
    const store = await openStore(server.port)
    const other = await granted(store, { name: 'other' })
    for (let beat = 0; beat < 20; beat += 1) {
      await store.renew(other, call)
      server.plant(leases, 'job', {
        metadata: { ...server.get(leases, 'job')?.metadata },
        spec: { ...server.get(leases, 'job')?.spec, leaseTransitions: beat + 1 },
      })
    }
    expect(gets(server)).toBe(before + 1)
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('continues after the watch ended in order, from where it ended', async () => {
    const { server, holder, waiting } = await contention()
    await granted(await openStore(server.port), { name: 'other' })
    const bookmark = String(server.store.revision)
    server.endWatches()
    await watchIsUp(server, 2)
    expect(watches(server)[1]?.query.get('resourceVersion')).toBe(bookmark)
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('goes on when the watch breaks, and notices the changes in between', async () => {
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

  it('starts again when the version of its watch has expired, by an event or by the answer', async () => {
    const { server, holder, waiting } = await contention()
    await granted(await openStore(server.port), { name: 'other' })
    server.store.compact()
    server.breakWatches()
    await watchIsUp(server, 3)
    expect(watches(server)[2]?.query.has('resourceVersion')).toBe(false)
    await holder.release()
    expect(await waiting).toBe(true)
  })

  it('also starts again after a 410', async () => {
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

describe('a waiter with a live watch', () => {
  it('does not poll: each heartbeat of the holder postpones its next request to the expiry', async () => {
    const server = await startServer()
    const clock = new VirtualClock()
    const times = { heartbeatTimeout: 6_000, heartbeatInterval: 1_000, operationTimeout: 1_500, logger: silentLogger }
    const holder = await openStore(server.port, { watch: false })
    const grant = await granted(holder, { ttl: 6_000 })
    const { store, shown } = countShown(await openStore(server.port, { clock }))
    const waiting = createLease(store, 'job', { ...times, clock }).acquire(FOREVER)
    await watchIsUp(server, 1)
    let before = 0
    for (let beat = 1; beat <= 30; beat += 1) {
      await holder.renew(grant, call)
      // The watch shows the heartbeat before time passes.
      await vi.waitFor(() => expect(shown()).toBe(beat), PATIENCE)
      await clock.settle()
      if (beat === 1) before = gets(server)
      await clock.advance(1_000)
    }
    expect(gets(server)).toBe(before)
    // When the holder falls silent, it asks at the expiry.
    await clock.advance(6_000)
    expect(await waiting).toBe(true)
    expect(gets(server)).toBe(before + 1)
  })
})

describe('a waiter after an outage', () => {
  it('is notified of a release without a pause, though the version of its watch was forgotten', async () => {
    const server = await startServer()
    const clock = new VirtualClock()
    const delays: number[] = []
    const { schedule } = clock
    clock.schedule = (delay, task) => {
      delays.push(delay)
      return schedule.call(clock, delay, task)
    }
    /** Until the watch has begun a pause of more than `shortest` ms; no other timer of this test has such a delay. */
    const pauses = async (shortest: number, longest: number) => {
      await vi.waitFor(() => expect(delays.some((delay) => delay > shortest && delay <= longest)).toBe(true), PATIENCE)
      delays.length = 0
      await clock.advance(longest)
    }
    const times = { ...PATIENT, operationTimeout: 6_000 }
    const holder = createLease(await openStore(server.port, { watch: false }), 'job', times)
    await holder.acquire()
    const waiting = createLease(await openStore(server.port, { clock }), 'job', { ...times, clock }).acquire(FOREVER)
    await vi.waitFor(() => expect(server.watching).toBe(1), PATIENCE)
    server.disturb = ({ query }) => (query.has('watch') ? { reply: { status: 503, body: 'no endpoints' } } : undefined)
    server.breakWatches()
    for (let failures = 1; failures <= 8; failures += 1) {
      await pauses(50, 5_000)
      await watchIsUp(server, failures + 1)
    }
    server.disturb = () => undefined
    await pauses(2_000, 5_000)
    await vi.waitFor(() => expect(server.watching).toBe(1), PATIENCE)
    // The stream was opened, though it showed nothing: the next pause is a short one again.
    await granted(await openStore(server.port), { name: 'other' })
    server.store.compact()
    server.breakWatches()
    await pauses(50, 100)
    // From here on no time passes for it.
    await vi.waitFor(() => expect(watches(server).at(-1)?.query.has('resourceVersion')).toBe(false), PATIENCE)
    await holder.release()
    expect(await waiting).toBe(true)
  })
})

/** The store, with how often its watches have yielded. */
function countShown(store: KubernetesLeaseStore) {
  let shown = 0
  const { watch } = store
  const counting = async function* (name: string, ended: StoreCall) {
    for await (const record of watch?.(name, ended) ?? []) {
      shown += 1
      yield record
    }
  }
  return { store: Object.assign(store, { watch: counting }), shown: () => shown }
}

describe('a watch', () => {
  it('leaves no connection behind when the waiting ends', async () => {
    const { server, holder, waiter, waiting } = await contention()
    const given = new AbortController()
    const second = createLease(await openStore(server.port), 'job', PATIENT)
    const impatient = second.acquire({ ...FOREVER, signal: given.signal })
    await watchIsUp(server, 2)
    given.abort(new Error('no more'))
    await expect(impatient).rejects.toThrow('no more')
    await vi.waitFor(() => expect(server.watching).toBe(1))
    await holder.release()
    expect(await waiting).toBe(true)
    // It is a holder now, and watches as one.
    await waiter.release()
    await vi.waitFor(() => expect(server.watching).toBe(0))
  })

  it('is not needed: without permission, or with watch off, waiters poll', async () => {
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
