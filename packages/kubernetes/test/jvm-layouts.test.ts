import { LeaseConfigurationError } from '@leasehold/core'
import { wallTime } from '@leasehold/core/store-kit'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { jvmLayout } from '../src/layouts/jvm-layout.js'
import { akkaLeases, pekkoLeases } from './support/api-server/test-api-server.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

const layouts = [
  ['akka', akkaLeases],
  ['pekko', pekkoLeases],
] as const

describe.each(layouts)('the layout of %s', (layout, kind) => {
  it('has an owner, empty where it is free, and the time of the write in milliseconds', async () => {
    const server = await startServer()
    const store = await openStore(server.port, { layout })
    const before = wallTime()
    const grant = await granted(store, { owner: 'node' })
    const { spec } = server.get(kind, 'job') ?? {}
    expect(spec).toEqual({ owner: `node_${grant.grantId}`, time: expect.any(Number) })
    expect(spec?.time).toBeGreaterThanOrEqual(before)
    await store.renew(grant, call)
    expect(server.get(kind, 'job')?.spec?.time).toBeGreaterThan(spec?.time as number)
    await store.release(grant, call)
    expect(server.get(kind, 'job')?.spec).toEqual({ owner: '', time: expect.any(Number) })
  })

  it('has no raiseToken, because a write of a JVM drops the annotation with the token', async () => {
    const server = await startServer()
    expect((await openStore(server.port, { layout })).raiseToken).toBeUndefined()
    expect((await openStore(server.port)).raiseToken).toBeDefined()
  })

  it('is taken over from a JVM after its heartbeat-timeout, observed, whatever its clock shows', async () => {
    const server = await startServer()
    const clock = new VirtualClock()
    // The clock of this JVM is a day slow.
    server.plant(kind, 'job', { spec: { owner: 'jvm-1', time: wallTime() - 86_400_000 } })
    const store = await openStore(server.port, { layout, clock, jvmHeartbeatTimeout: 60_000 })
    const claim = () => store.acquire({ name: 'job', owner: 'me', grantId: 'g', ttl: 15_000 }, call)
    expect(await claim()).toMatchObject({ granted: false, holder: { owner: 'jvm-1', ttl: 60_000 } })
    clock.block(60_000)
    expect((await claim()).granted).toBe(false)
    clock.block(25)
    expect((await claim()).granted).toBe(true)
  })

  it('is lost to a JVM that has taken it over, whose write clears our annotation', async () => {
    const server = await startServer()
    const store = await openStore(server.port, { layout })
    const grant = await granted(store)
    server.plant(kind, 'job', { spec: { owner: 'jvm-1', time: wallTime() } })
    expect(await store.renew(grant, call)).toMatchObject({ reason: 'taken', holder: { owner: 'jvm-1' } })
    expect(await store.release(grant, call)).toMatchObject({ released: false })
    expect(server.get(kind, 'job')?.spec?.owner).toBe('jvm-1')
  })

  it('is free for both sides after either side releases it', async () => {
    const server = await startServer()
    server.plant(kind, 'job', { spec: { owner: '', time: wallTime() } })
    const store = await openStore(server.port, { layout })
    const grant = await granted(store)
    await store.release(grant, call)
    expect(server.get(kind, 'job')?.spec?.owner).toBe('')
  })

  it('has a fencing token that is the version of the granting write', async () => {
    const server = await startServer()
    const store = await openStore(server.port, { layout })
    const grant = await granted(store)
    expect(grant.fencingToken).toBe(BigInt(server.get(kind, 'job')?.metadata.resourceVersion ?? 0))
    server.remove(kind, 'job')
    expect((await granted(store)).fencingToken).toBeGreaterThan(grant.fencingToken)
  })
})

describe('the settings of the JVMs', () => {
  it('let a lease of ours end before a JVM takes over: time + timeout − 2 × interval, less the skew', () => {
    const { limits } = new KubernetesLeaseStore({ layout: 'akka' })
    expect(limits.maxTtl).toBe(120_000 - 2 * 12_000 - 5_000)
    const pekko = {
      layout: 'pekko',
      jvmHeartbeatTimeout: 40_000,
      jvmHeartbeatInterval: 4_000,
      maxClockSkew: 1_000,
    } as const
    expect(new KubernetesLeaseStore(pekko).limits.maxTtl).toBe(31_000)
  })

  it('limit the ttl when a lease is acquired', async () => {
    const store = new KubernetesLeaseStore({ layout: 'akka' })
    const claimed = store.acquire({ name: 'job', owner: 'me', grantId: 'g', ttl: 91_001 }, call)
    await expect(claimed).rejects.toThrow('the ttl must be 1000 to 91000 ms, not 91001')
  })

  it.each([
    [{ jvmHeartbeatTimeout: 10_000 }, 'Raise heartbeat-timeout or lower heartbeat-interval'],
    [{ jvmHeartbeatInterval: 0 }, 'jvmHeartbeatInterval must be a positive'],
    [{ maxClockSkew: -1 }, 'maxClockSkew must be 0 or more'],
    [{ maxTtl: 60_000 }, 'must not be less than jvmHeartbeatTimeout'],
  ])('are refused where they leave nothing: %j', (options, message) => {
    const build = () => new KubernetesLeaseStore({ layout: 'akka', ...options })
    expect(build).toThrow(LeaseConfigurationError)
    expect(build).toThrow(message)
  })

  it('reject an unknown layout', () => {
    expect(() => new KubernetesLeaseStore({ layout: 'lock' as never })).toThrow("lease, akka or pekko, not 'lock'")
  })
})

it('the spec of a write always differs from the previous one, also within one millisecond', () => {
  const layout = jvmLayout('akka.io', 120_000)
  const holding = { holder: 'a', duration: 15_000, now: 1_800_000_000_000 }
  const first = layout.specOf({ theirs: 1 }, holding)
  expect(first).toEqual({ theirs: 1, owner: 'a', time: 1_800_000_000_000 })
  expect(layout.specOf(first, holding)).toEqual({ theirs: 1, owner: 'a', time: 1_800_000_000_001 })
})
