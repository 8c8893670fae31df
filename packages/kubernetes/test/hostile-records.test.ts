import type { Logger } from '@leasehold/core'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { NOTE } from '../src/grant-note.js'
import { akkaLeases, leases, type TestApiServer } from './support/api-server/test-api-server.js'
import { clientGo } from './support/client-go.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

const LONGEST = 120_000
/** How much longer than the duration a challenger waits. */
const MARGIN = 25

/** A challenger that has just seen the record of another owner. */
async function challenger(server: TestApiServer, layout: 'lease' | 'akka' = 'lease') {
  const clock = new VirtualClock()
  const warnings: string[] = []
  const logger: Logger = { ...silentLogger, warn: (message) => warnings.push(message) }
  const store = await openStore(server.port, { clock, layout, logger, maxTtl: LONGEST })
  const claim = async () => (await store.acquire({ name: 'job', owner: 'me', grantId: 'g', ttl: 15_000 }, call)).granted
  expect(await claim()).toBe(false)
  return { clock, store, claim, warnings }
}

describe('a record with an implausible duration', () => {
  it.each([
    ['of 2^31−1 seconds', 2 ** 31 - 1],
    ['that is negative', -7],
    ['of nothing', 0],
    ['that is a text', 'an hour'],
    ['that is a fraction', 1.5],
    ['that is absent', undefined],
  ])(
    '%s is waited for as long as the setting says, no shorter and no longer, and is logged once',
    async (_, seconds) => {
      const server = await startServer()
      server.plant(leases, 'job', { spec: { ...clientGo.acquired('them', 15), leaseDurationSeconds: seconds } })
      const { clock, claim, warnings } = await challenger(server)
      clock.block(LONGEST + MARGIN - 1)
      expect(await claim()).toBe(false)
      clock.block(1)
      expect(await claim()).toBe(true)
      expect(warnings).toEqual([expect.stringContaining('leaseDurationSeconds')])
      expect(warnings[0]).toContain(`${LONGEST} ms`)
    },
  )
})

describe('a record with an implausible renewTime', () => {
  it.each(['9999-12-31T23:59:59.999999Z', 'yesterday', 12, undefined])(
    '%s is waited for as long as it was recorded, from when it was seen',
    async (renewTime) => {
      const server = await startServer()
      server.plant(leases, 'job', { spec: { ...clientGo.acquired('them', 15), renewTime } })
      const { clock, claim, warnings } = await challenger(server)
      clock.block(15_000 + MARGIN - 1)
      expect(await claim()).toBe(false)
      clock.block(1)
      expect(await claim()).toBe(true)
      expect(warnings).toEqual([expect.stringContaining('renewTime')])
      // The next write corrects the record.
      expect(String(server.get(leases, 'job')?.spec?.renewTime)).toMatch(/^20\d\d-/)
    },
  )
})

describe('a custom resource with an implausible time', () => {
  it.each([253_402_300_799_999, -1, 'soon'])('%s is waited for the timeout of the JVMs', async (time) => {
    const server = await startServer()
    server.plant(akkaLeases, 'job', { spec: { owner: 'jvm', time } })
    const { clock, claim, warnings } = await challenger(server, 'akka')
    clock.block(120_000 + MARGIN - 1)
    expect(await claim()).toBe(false)
    clock.block(1)
    expect(await claim()).toBe(true)
    expect(warnings).toEqual([expect.stringContaining('time is')])
  })
})

describe('a record that was written by hand', () => {
  it('with a holder that is not a string is held by an unknown holder', async () => {
    const server = await startServer()
    server.plant(leases, 'job', { spec: { ...clientGo.acquired('', 15), holderIdentity: 17 } })
    const { claim, store } = await challenger(server)
    expect(await claim()).toBe(false)
    expect((await store.read('job', call))?.owner).toContain('17')
  })

  it('without a spec is free', async () => {
    const server = await startServer()
    server.plant(leases, 'job', { spec: undefined as never })
    const store = await openStore(server.port)
    expect(await store.read('job', call)).toMatchObject({ state: 'available' })
    await granted(store)
  })

  it.each(['{', '[]', 'null', '{"id":7}', '{"id":"them","ttl":-1}', '{"id":"them","ttl":1,"token":"x","metadata":[]}'])(
    'with the annotation %s is read by its fields',
    async (note) => {
      const server = await startServer()
      server.plant(leases, 'job', {
        metadata: { annotations: { [NOTE]: note } },
        spec: clientGo.acquired('a_them', 15),
      })
      const store = await openStore(server.port)
      expect(await store.read('job', call)).toMatchObject({ ttl: 15_000, metadata: {}, state: 'leased' })
    },
  )

  it('with a holder changed ends the lease of the one before, at its next heartbeat', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    const { metadata, spec } = server.get(leases, 'job') ?? {}
    server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, holderIdentity: 'by-hand' } })
    expect(await store.renew(grant, call)).toMatchObject({ renewed: false, holder: { owner: 'by-hand' } })
    expect(server.get(leases, 'job')?.spec?.holderIdentity).toBe('by-hand')
  })

  it('with a holder changed is not written over by a holder whose store has read the change meanwhile', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    const { metadata, spec } = server.get(leases, 'job') ?? {}
    server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, holderIdentity: 'by-hand' } })
    const before = server.get(leases, 'job')
    expect((await store.read('job', call))?.owner).toBe('by-hand')
    expect(await store.renew(grant, call)).toMatchObject({ renewed: false, reason: 'taken' })
    expect(await store.release(grant, call)).toMatchObject({ released: false })
    expect(server.get(leases, 'job')).toEqual(before)
  })

  it.each([
    ['emptied', { holderIdentity: '' }],
    ['removed', { holderIdentity: null }],
    ['emptied, and fewer transitions', { holderIdentity: '', leaseTransitions: 4 }],
    ['emptied, and no transitions', { holderIdentity: '', leaseTransitions: undefined }],
    ['emptied, and another duration', { holderIdentity: '', leaseDurationSeconds: 1 }],
    ['emptied, and more transitions, as by another who took it too early', { holderIdentity: '', leaseTransitions: 7 }],
  ])(
    'with the holder %s ends its lease, and is locked for its ttl: the holder may not know it yet',
    async (_, edit) => {
      const server = await startServer()
      server.plant(leases, 'job', { spec: { leaseTransitions: 5 } })
      const store = await openStore(server.port)
      const grant = await granted(store)
      const { metadata, spec } = server.get(leases, 'job') ?? {}
      server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, ...edit } })
      const { clock, claim, warnings, store: other } = await challenger(server)
      const holder = { grantId: grant.grantId, state: 'breaking' }
      expect(await store.renew(grant, call)).toMatchObject({ renewed: false, reason: 'taken', holder })
      expect(await other.read('job', call)).toMatchObject({ state: 'breaking', grantId: grant.grantId, ttl: 15_000 })
      clock.block(15_000 + MARGIN - 1)
      expect(await claim()).toBe(false)
      clock.block(1)
      expect(await claim()).toBe(true)
      expect(warnings).toEqual([expect.stringContaining('another program removed the holder')])
    },
  )

  it.each([
    ['no annotation of ours: we released it', { annotations: {} }],
    ['an annotation that is not ours', { annotations: { [NOTE]: '{"id":7}' } }],
  ])('with the holder emptied and %s is free at once', async (_, metadata) => {
    const server = await startServer()
    await granted(await openStore(server.port))
    const object = server.get(leases, 'job')
    server.plant(leases, 'job', {
      metadata: { ...object?.metadata, ...metadata },
      spec: { ...object?.spec, holderIdentity: '' },
    })
    await granted(await openStore(server.port))
  })

  it('with the holder emptied after an operator broke the lease is locked for the break period', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    await granted(store)
    await store.break('job', { period: 4_000 }, call)
    const { metadata, spec } = server.get(leases, 'job') ?? {}
    server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, holderIdentity: '' } })
    const { clock, claim } = await challenger(server)
    clock.block(4_000 + MARGIN - 1)
    expect(await claim()).toBe(false)
    clock.block(1)
    expect(await claim()).toBe(true)
  })

  it('with the holder emptied can be broken by an operator, and is then free at once', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    await granted(store)
    const { metadata, spec } = server.get(leases, 'job') ?? {}
    server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, holderIdentity: '' } })
    const { claim, store: other } = await challenger(server)
    expect(await other.break('job', { period: 0 }, call)).toEqual({ remaining: 0 })
    expect(await claim()).toBe(true)
  })

  it('with control characters is logged in one line, with these escaped', async () => {
    const server = await startServer()
    const renewTime = 'soon\u009b2J\n\u202e'
    server.plant(leases, 'job', { spec: { holderIdentity: 'them', leaseDurationSeconds: 5, renewTime } })
    const { warnings } = await challenger(server)
    expect(warnings).toEqual([expect.stringContaining(String.raw`"soon\u{9b}2J\n\u{202e}"`)])
  })

  it('with the annotation removed keeps its holder, and the holder its token', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    await store.renew(grant, call)
    server.plant(leases, 'job', { metadata: {}, spec: { ...server.get(leases, 'job')?.spec } })
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    expect((await (await openStore(server.port)).read('job', call))?.fencingToken).toBe(grant.fencingToken)
  })

  it('with a duration changed is waited for that long', async () => {
    const server = await startServer()
    await granted(await openStore(server.port))
    const { metadata, spec } = server.get(leases, 'job') ?? {}
    server.plant(leases, 'job', { metadata: { ...metadata }, spec: { ...spec, leaseDurationSeconds: 60 } })
    const { clock, claim } = await challenger(server)
    clock.block(60_000)
    expect(await claim()).toBe(false)
    clock.block(MARGIN)
    expect(await claim()).toBe(true)
  })
})
