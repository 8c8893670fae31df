import { createLease, type LeaseLost } from '@leasehold/core'
import { silentLogger } from '@leasehold/testing'
import { describe, expect, it, vi } from 'vitest'
import { NOTE, readNote } from '../src/grant-note.js'
import type { LayoutName } from '../src/kubernetes-options.js'
import { akkaLeases, leases, pekkoLeases, type TestApiServer } from './support/api-server/test-api-server.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

/** No heartbeat is due while these tests run: only the watch can notify the holder. */
const PATIENT = { heartbeatTimeout: 60_000, heartbeatInterval: 15_000, operationTimeout: 5_000, logger: silentLogger }

/** As long as a slow machine may need, in milliseconds. */
const PATIENCE = { timeout: 10_000, interval: 2 }

const kinds = { lease: leases, akka: akkaLeases, pekko: pekkoLeases }
const watches = (server: TestApiServer) => server.requests.filter(({ query }) => query.has('watch'))
const puts = (server: TestApiServer) => server.requests.filter(({ method }) => method === 'PUT').length

/** A holder whose watch is open. */
async function setUpHeld(layout: LayoutName = 'lease', strategy?: 'manual') {
  const server = await startServer()
  const times = strategy === undefined ? PATIENT : { ...PATIENT, strategy }
  const lease = createLease(await openStore(server.port, { layout }), 'job', { ...times, owner: 'me' })
  const losses: LeaseLost[] = []
  let renewals = 0
  lease
    .on('lost', (lost) => losses.push(lost))
    .on('renewed', () => {
      renewals += 1
    })
  expect(await lease.acquire()).toBe(true)
  await vi.waitFor(() => expect(server.watching).toBe(1), PATIENCE)
  const kind = kinds[layout]
  /** A write by another program over the spec or the metadata of the object. */
  const edit = (spec: object, metadata: object = {}): void => {
    const object = server.get(kind, 'job')
    server.plant(kind, 'job', {
      metadata: { ...object?.metadata, ...metadata },
      spec: { ...object?.spec, ...spec },
    })
  }
  const isLost = async () => {
    await vi.waitFor(() => expect(losses.length).toBe(1), PATIENCE)
    return losses[0]
  }
  return { server, lease, kind, edit, losses, isLost, renewals: () => renewals }
}

describe.each(['lease', 'akka', 'pekko'] as const)('a holder in the layout %s learns at once', (layout) => {
  const holderField = layout === 'lease' ? 'holderIdentity' : 'owner'

  it('that another has taken the lease', async () => {
    const { edit, isLost, lease } = await setUpHeld(layout)
    edit({ [holderField]: 'other' })
    expect(await isLost()).toMatchObject({ reason: 'taken', owner: 'other' })
    expect(lease.checkLease()).toBe(false)
  })

  it('that another has emptied the holder, and then releases the name by itself', async () => {
    const { server, edit, isLost } = await setUpHeld(layout)
    edit({ [holderField]: '' })
    expect(await isLost()).toEqual({ reason: 'taken' })
    const other = await openStore(server.port, { layout })
    await vi.waitFor(async () => expect((await other.read('job', call))?.state).toBe('available'), PATIENCE)
  })

  it('the same with renewals by hand, for which it reads the record', async () => {
    const { server, edit, isLost } = await setUpHeld(layout, 'manual')
    edit({ [holderField]: '' })
    expect(await isLost()).toEqual({ reason: 'taken' })
    const other = await openStore(server.port, { layout })
    await vi.waitFor(async () => expect((await other.read('job', call))?.state).toBe('available'), PATIENCE)
  })

  it('that the object was deleted', async () => {
    const { server, kind, isLost } = await setUpHeld(layout)
    server.remove(kind, 'job')
    expect(await isLost()).toEqual({ reason: 'deleted' })
  })

  it('that an operator has broken the lease', async () => {
    const { server, isLost } = await setUpHeld(layout)
    await (await openStore(server.port, { layout })).break('job', {}, call)
    expect(await isLost()).toEqual({ reason: 'broken' })
  })
})

describe('a holder that watches', () => {
  it.each([
    ['the duration, which would let others come early', { leaseDurationSeconds: 1 }, {}],
    ['the count of transitions', { leaseTransitions: 9 }, {}],
    ['our annotation', {}, { annotations: {} }],
    ['what our annotation says', {}, { annotations: { [NOTE]: '{"id":"other","ttl":60000}' } }],
  ])('writes the record again at once where another has changed %s', async (_, spec, metadata) => {
    const { server, edit, losses, renewals } = await setUpHeld()
    const before = server.get(leases, 'job')
    edit(spec, metadata)
    await vi.waitFor(() => expect(renewals()).toBe(1), PATIENCE)
    const after = server.get(leases, 'job')
    expect(after?.spec).toEqual({
      ...before?.spec,
      leaseTransitions: expect.any(Number),
      renewTime: expect.any(String),
    })
    const [was, is] = [before, after].map((object) => readNote(object?.metadata.annotations))
    // The count of renewals is in the annotation.
    const count = 'annotations' in metadata ? undefined : 1
    expect(is).toEqual({
      ...was,
      token: expect.any(BigInt),
      transitions: after?.spec?.leaseTransitions,
      renewals: count,
    })
    expect(losses).toEqual([])
  })

  it('sends no heartbeat for its own writes, or when others change their own fields', async () => {
    const { server, edit, isLost, renewals } = await setUpHeld()
    const before = puts(server)
    edit({}, { labels: { app: 'x' } })
    edit({ strategy: 'OldestEmulationVersion' })
    edit({ holderIdentity: 'other' })
    await isLost()
    // The one that found the loss.
    expect(puts(server)).toBe(before + 1)
    expect(renewals()).toBe(0)
  })

  it('goes on when its watch breaks or its version expires, and notices the changes in between', async () => {
    const { server, edit, isLost, losses } = await setUpHeld()
    server.endWatches()
    await vi.waitFor(() => expect(watches(server).length).toBeGreaterThan(1), PATIENCE)
    server.disturb = ({ query }) => (query.has('watch') ? { drop: true } : undefined)
    server.breakWatches()
    const before = watches(server).length
    await vi.waitFor(() => expect(watches(server).length).toBeGreaterThan(before), PATIENCE)
    edit({ holderIdentity: 'other' })
    edit({ holderIdentity: 'yet another' })
    server.store.compact()
    expect(losses).toEqual([])
    server.disturb = () => undefined
    expect(await isLost()).toMatchObject({ reason: 'taken', owner: 'yet another' })
  })

  it('begins at the write that granted the lease, so that nothing after it is missed', async () => {
    const server = await startServer()
    const lease = createLease(await openStore(server.port), 'job', PATIENT)
    const lost = new Promise<LeaseLost>((resolve) => lease.once('lost', resolve))
    let isHeldUp = (): void => {}
    const delay = new Promise<void>((resolve) => {
      isHeldUp = resolve
    })
    server.disturb = ({ query }) => (query.has('watch') ? { delay } : undefined)
    await lease.acquire()
    const { metadata, spec } = server.get(leases, 'job') ?? {}
    server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, holderIdentity: 'other' } })
    isHeldUp()
    expect(await lost).toMatchObject({ reason: 'taken', owner: 'other' })
    expect(watches(server)[0]?.query.get('resourceVersion')).toBe(metadata?.resourceVersion)
  })

  it('begins with the current object if the token was raised, which is no version yet', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const first = await granted(store)
    const fencingToken = first.fencingToken + 1_000n
    await store.raiseToken?.(first, fencingToken, call)
    await store.release({ ...first, fencingToken }, call)
    const lease = createLease(store, 'job', PATIENT)
    const lost = new Promise<LeaseLost>((resolve) => lease.once('lost', resolve))
    await lease.acquire()
    expect(lease.fencingToken).toBe(fencingToken + 1n)
    await vi.waitFor(() => expect(server.watching).toBe(1), PATIENCE)
    expect(watches(server)[0]?.query.has('resourceVersion')).toBe(false)
    const { metadata, spec } = server.get(leases, 'job') ?? {}
    server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, holderIdentity: 'other' } })
    expect(await lost).toMatchObject({ reason: 'taken', owner: 'other' })
  })

  it('leaves no watch behind, however the lease ends', async () => {
    for (const end of ['release', 'loss', 'close'] as const) {
      const { server, lease, edit, isLost } = await setUpHeld()
      if (end === 'loss') {
        edit({ holderIdentity: 'other' })
        await isLost()
      } else await (end === 'release' ? lease.release() : lease.close())
      await vi.waitFor(() => expect(server.watching).toBe(0), PATIENCE)
    }
  })

  it('is not needed: without permission, or with watch off, heartbeats go on, and the permission is rarely tried again', async () => {
    const server = await startServer()
    server.tokens.set('limited', ['get', 'create', 'update'])
    const quick = { heartbeatTimeout: 3_000, heartbeatInterval: 100, operationTimeout: 1_000, logger: silentLogger }
    for (const [name, options, asked] of [
      ['limited', { token: 'limited' }, 1],
      ['unwatched', { watch: false }, 0],
    ] as const) {
      const lease = createLease(await openStore(server.port, options), name, quick)
      let renewals = 0
      lease.on('renewed', () => {
        renewals += 1
      })
      await lease.acquire()
      await vi.waitFor(() => expect(renewals).toBeGreaterThan(5), PATIENCE)
      expect(lease.state).toBe('held')
      expect(watches(server).filter(({ query }) => query.get('fieldSelector') === `metadata.name=${name}`).length).toBe(
        asked,
      )
      await lease.release()
    }
  })
})
