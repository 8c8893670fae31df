import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { isMicroTime, leaseLayout, toMicroTime } from '../src/layouts/lease-layout.js'
import { leases } from './support/api-server/test-api-server.js'
import { clientGo } from './support/client-go.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

describe('the lease layout, read by client-go', () => {
  it('of a new lease has all fields, with six digits of microseconds, and no transition yet', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const { grantId } = await granted(store, { owner: 'worker-1' })
    const { spec, apiVersion, kind } = server.get(leases, 'job') ?? {}
    expect({ apiVersion, kind }).toEqual({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' })
    expect(spec).toEqual({
      holderIdentity: `worker-1_${grantId}`,
      leaseDurationSeconds: 15,
      acquireTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      renewTime: spec?.acquireTime,
      leaseTransitions: 0,
    })
  })

  it('of a heartbeat has another renewTime, and nothing else', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    const before = server.get(leases, 'job')?.spec
    for (let beat = 0; beat < 3; beat += 1) await store.renew(grant, call)
    const after = server.get(leases, 'job')?.spec
    expect(after).toEqual({ ...before, renewTime: after?.renewTime })
    expect(String(after?.renewTime) > String(before?.renewTime)).toBe(true)
  })

  it('of a release has no holder, a duration of a second, and keeps the object and its transitions', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    await store.release(await granted(store), call)
    await store.release(await granted(store), call)
    const object = server.get(leases, 'job')
    expect(object?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 })
    expect(Object.keys(object?.metadata.annotations ?? {})).toEqual(['leasehold.dev/released'])
  })

  it('counts a transition for each new grant, of the same owner after a restart too', async () => {
    const server = await startServer()
    const clock = new VirtualClock()
    const transitions: unknown[] = []
    const end = ['release', 'expire', 'expire', 'break', 'none'] as const
    for (const ending of end) {
      // A store of its own each time, as a process that was restarted under the same name has.
      const store = await openStore(server.port, { clock })
      await store.read('job', call)
      clock.block(20_000)
      const grant = await granted(store, { owner: 'same' })
      transitions.push(server.get(leases, 'job')?.spec?.leaseTransitions)
      if (ending === 'release') await store.release(grant, call)
      if (ending === 'break') await store.break('job', { period: 0 }, call)
    }
    expect(transitions).toEqual([0, 1, 2, 3, 4])
  })

  it('rounds the duration up to whole seconds, and reads its own exactly', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    await granted(store, { ttl: 10_400 })
    expect(server.get(leases, 'job')?.spec?.leaseDurationSeconds).toBe(11)
    expect((await store.read('job', call))?.ttl).toBe(10_400)
  })

  it('keeps the labels, annotations and unknown fields of others', async () => {
    const server = await startServer()
    server.plant(leases, 'job', {
      metadata: { labels: { app: 'x' }, annotations: { note: 'theirs' }, ownerReferences: [{ name: 'deployment' }] },
      spec: { strategy: 'OldestEmulationVersion', leaseTransitions: 6 },
    })
    const store = await openStore(server.port)
    const grant = await granted(store)
    await store.renew(grant, call)
    await store.release(grant, call)
    expect(server.get(leases, 'job')).toMatchObject({
      metadata: { labels: { app: 'x' }, annotations: { note: 'theirs' }, ownerReferences: [{ name: 'deployment' }] },
      spec: { strategy: 'OldestEmulationVersion', leaseTransitions: 7, holderIdentity: '' },
    })
  })
})

describe('the lease layout, shared with client-go', () => {
  it('is not taken over before the duration that a Go controller recorded', async () => {
    const server = await startServer()
    const clock = new VirtualClock()
    server.plant(leases, 'job', { spec: clientGo.acquired('go-controller_1', 60) })
    const store = await openStore(server.port, { clock })
    const refused = await store.acquire({ name: 'job', owner: 'me', grantId: 'g', ttl: 15_000 }, call)
    expect(refused).toMatchObject({ granted: false, holder: { owner: 'go-controller_1', ttl: 60_000 } })
    clock.block(59_000)
    expect((await store.acquire({ name: 'job', owner: 'me', grantId: 'g', ttl: 15_000 }, call)).granted).toBe(false)
    clock.block(1_025)
    expect((await granted(store)).owner).toBe('me')
    expect(server.get(leases, 'job')?.spec?.leaseTransitions).toBe(1)
  })

  it('shows the identity of a Go elector, and is free at once after its release', async () => {
    const server = await startServer()
    const holder = '00000000-0000-4000-8000-000000000001'
    server.plant(leases, 'job', { spec: clientGo.acquired(`host_${holder}`, 15) })
    const store = await openStore(server.port)
    expect(await store.read('job', call)).toMatchObject({ owner: 'host', grantId: holder, state: 'leased' })
    server.plant(leases, 'job', { spec: clientGo.released(server.get(leases, 'job')?.spec ?? {}) })
    await granted(store)
  })

  it('is taken over by Go after our recorded duration, which we then see as taken', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store, { owner: 'node' })
    await store.renew(grant, call)
    // Go keeps the annotations that it read.
    const { metadata, spec = {} } = server.get(leases, 'job') ?? {}
    server.plant(leases, 'job', { metadata: { ...metadata }, spec: clientGo.takenOver(spec, 'go_2', 60) })
    expect(await store.renew(grant, call)).toMatchObject({
      renewed: false,
      reason: 'taken',
      holder: { owner: 'go_2' },
    })
    // Of our own annotation, which is still there, nothing holds for it.
    const { fencingToken = 0n, ...theirs } = (await store.read('job', call)) ?? {}
    expect(theirs).toMatchObject({ owner: 'go_2', ttl: 60_000, metadata: {} })
    expect(fencingToken).toBeGreaterThan(grant.fencingToken)
    expect(await store.release(grant, call)).toMatchObject({ released: false })
    expect(server.get(leases, 'job')?.spec?.holderIdentity).toBe('go_2')
  })
})

describe('the spec of a write', () => {
  const holding = { holder: 'a', duration: 15_000, now: 1_800_000_000_000 }

  it('is never the same as the one before, also within one millisecond', () => {
    const first = leaseLayout.specOf(undefined, holding)
    const second = leaseLayout.specOf(first, holding)
    expect(second).not.toEqual(first)
    expect(leaseLayout.specOf(second, holding)).not.toEqual(second)
  })

  it('keeps a count of transitions at its maximum, and replaces an invalid one by 0', () => {
    const full = { holderIdentity: 'b', leaseTransitions: 2 ** 31 - 1 }
    expect(leaseLayout.specOf(full, holding).leaseTransitions).toBe(2 ** 31 - 1)
    expect(leaseLayout.specOf({ leaseTransitions: 'many' }, holding).leaseTransitions).toBe(0)
  })

  it('keeps the time of the grant in a heartbeat, and writes another if it is invalid', () => {
    const acquireTime = '2020-01-02T03:04:05.000000Z'
    const heartbeat = (time: unknown) =>
      leaseLayout.specOf({ holderIdentity: 'a', acquireTime: time, leaseTransitions: 3 }, holding)
    expect(heartbeat(acquireTime)).toMatchObject({ acquireTime, leaseTransitions: 3 })
    for (const time of [undefined, 'yesterday', '2020-13-02T03:04:05.000000Z']) {
      const { acquireTime: written, renewTime } = heartbeat(time)
      expect(written).toBe(renewTime)
    }
  })

  it('has times as the server reads them', () => {
    expect(toMicroTime(1_767_323_045_123_456)).toBe('2026-01-02T03:04:05.123456Z')
    expect(toMicroTime(1_767_323_045_000_007)).toBe('2026-01-02T03:04:05.000007Z')
    expect(isMicroTime('2026-01-02T03:04:05.123456Z')).toBe(true)
    for (const time of ['2026-01-02T03:04:05.123Z', '2026-13-02T03:04:05.123456Z', 7, undefined]) {
      expect(isMicroTime(time), String(time)).toBe(false)
    }
  })
})
