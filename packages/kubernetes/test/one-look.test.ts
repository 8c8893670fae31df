import { LeaseConfigurationError } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome } from '@leasehold/core/store'
import { KubernetesLeaseStore, type KubernetesLeaseStoreOptions } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../src/kubernetes-object.js'
import { firstManager, managerOver, writtenAt } from '../src/object-times.js'
import { akkaLeases, leases, TestApiServer } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'

const TTL = 10_000
const MARGIN = 25
/** Two steps of a second, and the default of `clockDifference`. */
const ERROR = 7_000
/** A whole second, by the clock of the server. */
const START = 1_800_000_000_000

const call = () => new AbortableCall()

describe('a challenger that looks once', () => {
  let server: TestApiServer
  let now = START

  beforeEach(async () => {
    server = await TestApiServer.start()
    now = START
    server.now = () => now
  })

  afterEach(() => server.stop())

  /** The store of a process that has just started: nothing but the clock of the server goes on. */
  async function open(options: KubernetesLeaseStoreOptions = {}): Promise<KubernetesLeaseStore> {
    const kubeConfig = await kubeConfigFor(server.port, 'admin')
    return new KubernetesLeaseStore({
      kubeConfig,
      clock: new VirtualClock(),
      watch: false,
      logger: silentLogger,
      ...options,
    })
  }

  async function claim(store: KubernetesLeaseStore, owner: string): Promise<AcquireOutcome> {
    const grantId = `00000000-0000-4000-8000-00000000000${owner}`
    const outcome = await store.acquire({ name: 'job', owner, grantId, ttl: TTL }, call())
    if (!outcome.granted) await store.close()
    return outcome
  }

  for (const layout of ['lease', 'akka'] as const) {
    it(`replaces a dead holder after the ttl, two seconds and clockDifference (${layout})`, async () => {
      await claim(await open({ layout }), '1')
      now += TTL + MARGIN + ERROR - 1_025
      expect(await claim(await open({ layout }), '2')).toMatchObject({ granted: false, holder: { remaining: 1_025 } })
      now += 2_000
      expect((await claim(await open({ layout }), '2')).granted).toBe(true)
    })

    it(`counts from the last heartbeat, also of a holder that has renewed for long (${layout})`, async () => {
      const holder = await open({ layout })
      const outcome = await claim(holder, '1')
      if (!outcome.granted) throw new Error('not granted')
      for (let beat = 0; beat < 6; beat += 1) {
        now += TTL - 1_000
        expect(await holder.renew(outcome.grant, call())).toEqual({ renewed: true })
        expect(await claim(await open({ layout }), '2')).toMatchObject({
          granted: false,
          holder: { remaining: TTL + MARGIN },
        })
      }
    })
  }

  it('observes the record of client-go, whose manager keeps its first time', async () => {
    const spec = { holderIdentity: 'go', leaseDurationSeconds: 10, renewTime: '2026-01-01T00:00:00.000000Z' }
    const managed = { manager: 'leader-election', operation: 'Update', time: '2026-01-01T00:00:00Z' }
    const managedFields = [{ ...managed, fieldsV1: { 'f:spec': { 'f:renewTime': {}, 'f:holderIdentity': {} } } }]
    server.plant(leases, 'job', { metadata: { managedFields }, spec })
    expect(await claim(await open(), '2')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN } })
  })

  it.each([
    { title: 'there are no managers', managedFields: undefined },
    { title: 'the list of managers is empty', managedFields: [] },
    { title: 'the managers are no list', managedFields: 'none' },
    { title: 'an entry is null', managedFields: [null] },
    { title: 'the time is none', managedFields: [{ time: 'soon' }] },
    { title: 'the time is missing', managedFields: [{ time: undefined }] },
    { title: 'the operation is another one', managedFields: [{ operation: 'Apply' }] },
    { title: 'another manager owns the field, too', managedFields: [{}, { manager: 'kubectl' }] },
  ])('observes the record if $title', async ({ managedFields }) => {
    await claim(await open(), '1')
    const { metadata, ...object } = server.get(leases, 'job') ?? { metadata: {} }
    const time = new Date(START).toISOString()
    const base = { manager: firstManager, operation: 'Update', time, fieldsV1: { 'f:spec': { 'f:renewTime': {} } } }
    const edited = Array.isArray(managedFields)
      ? managedFields.map((entry) => entry && { ...base, ...entry })
      : managedFields
    server.plant(leases, 'job', { ...object, metadata: { ...metadata, managedFields: edited } })
    now += 10 * TTL
    expect(await claim(await open(), '2')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN } })
  })

  it('observes the record with clockDifference: Infinity, and says that one look is not enough', async () => {
    await claim(await open(), '1')
    now += 10 * TTL
    const challenger = await open({ clockDifference: Number.POSITIVE_INFINITY })
    expect(challenger.limits).not.toHaveProperty('looks')
    expect(await claim(challenger, '2')).toMatchObject({ granted: false, holder: { remaining: TTL + MARGIN } })
  })

  it('waits for less if the clocks of the API servers are known to be closer', async () => {
    await claim(await open(), '1')
    now += TTL + 3_000
    expect((await claim(await open(), '2')).granted).toBe(false)
    const challenger = await open({ clockDifference: 500 })
    expect(challenger.limits.looks).toEqual({ needed: 1, extra: 2_525 })
    expect((await claim(challenger, '2')).granted).toBe(true)
  })

  it('lists a dead holder as expired', async () => {
    await claim(await open(), '1')
    now += TTL + ERROR + 1_000
    const listed: unknown[] = []
    for await (const record of (await open()).list?.('', call()) ?? []) listed.push(record)
    expect(listed).toMatchObject([{ name: 'job', state: 'expired' }])
  })

  it.each([-1, Number.NaN, '5s'])('refuses %s as clockDifference', (clockDifference) => {
    const create = () => new KubernetesLeaseStore({ clockDifference: clockDifference as number })
    expect(create).toThrow(LeaseConfigurationError)
    expect(create).toThrow('clockDifference must be 0 or more milliseconds, or Infinity')
  })

  it('writes by two managers in turn, so that the server gives each heartbeat a time', async () => {
    const holder = await open()
    const outcome = await claim(holder, '1')
    if (!outcome.granted) throw new Error('not granted')
    for (let beat = 0; beat < 3; beat += 1) await holder.renew(outcome.grant, call())
    await holder.release(outcome.grant, call())
    const sent = server.requests.filter(({ method }) => method !== 'GET').map(({ query }) => query.get('fieldManager'))
    expect(sent.filter((manager) => manager !== null)).toEqual([
      'leasehold-1',
      'leasehold-2',
      'leasehold-1',
      'leasehold-2',
      'leasehold-1',
    ])
    expect(server.get(akkaLeases, 'job')).toBeUndefined()
  })
})

describe('the manager of the next write', () => {
  const objectWith = (...owners: string[]): KubernetesObject => ({
    metadata: {
      name: 'job',
      resourceVersion: '1',
      managedFields: owners.map((manager) => ({ manager, fieldsV1: { 'f:spec': { 'f:renewTime': {} } } })),
    },
  })

  it('is never one that owns the field already', () => {
    expect(managerOver(objectWith('leasehold-1'), 'renewTime')).toBe('leasehold-2')
    expect(managerOver(objectWith('leasehold-2'), 'renewTime')).toBe('leasehold-1')
    expect(managerOver(objectWith('client-go'), 'renewTime')).toBe('leasehold-1')
    expect(managerOver(objectWith('client-go', 'leasehold-1'), 'renewTime')).toBe('leasehold-2')
  })

  it('is one whose time counts for nothing, if the managers are not known', () => {
    expect(managerOver(objectWith(), 'renewTime')).toBe('leasehold')
    expect(managerOver(objectWith('leasehold-1', 'leasehold-2'), 'renewTime')).toBe('leasehold')
    const object = objectWith('leasehold')
    expect(writtenAt(object, 'renewTime')).toBeUndefined()
  })
})
