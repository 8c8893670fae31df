import { type Health, healthOf, LeaseConfigurationError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { LIMIT, setUp, setUpHeld, TTL } from './support/held-lease.js'
import { ThreeMethods } from './support/three-methods.js'

const later = (): { readonly promise: Promise<void>; readonly end: () => void } => {
  let end = (): void => {}
  return { promise: new Promise<void>((resolve) => (end = resolve)), end: () => end() }
}

describe('the health of a lease', () => {
  it('is good while it is not held', () => {
    expect(healthOf(setUp().lease)).toEqual({
      healthy: true,
      reason: undefined,
      details: { name: 'job', state: 'idle', isValid: false, remaining: 0 },
    } satisfies Health)
  })

  it('is good while it is held and renewed, and its details are plain JSON', async () => {
    const { lease } = await setUpHeld()
    const { healthy, details } = healthOf(lease)
    expect(healthy).toBe(true)
    expect(JSON.parse(JSON.stringify(details))).toEqual(details)
    expect(details).toMatchObject({ state: 'held', isValid: true, fencingToken: String(lease.fencingToken) })
  })

  it('is bad while heartbeats fail, and says for how long the lease is valid', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(1_000)
    store.last('renew').fail(new Error('connection reset'))
    await clock.settle()
    const { healthy, reason } = healthOf(lease)
    expect(healthy).toBe(false)
    expect(reason).toMatch(/the heartbeats of lease 'job' fail \(.*connection reset\): it is lost in \d+ ms unless/)
  })

  it('is bad when the event loop was blocked for longer than the validity, before any timer has run', async () => {
    const { clock, lease } = await setUpHeld()
    clock.block(TTL)
    expect(healthOf(lease).reason).toMatch(/not valid any more.* the event loop was blocked/)
  })

  it('is bad while work goes on after the loss, and good when it has ended', async () => {
    const { clock, store, lease } = setUp()
    const work = later()
    const run = lease.run(() => work.promise).catch(() => {})
    store.last('acquire').answer('yes')
    await clock.settle()
    expect(healthOf(lease).healthy).toBe(true)
    await clock.advance(TTL + LIMIT)
    await run
    expect(healthOf(lease).reason).toMatch(/lease 'job' was lost, and its work goes on: end the work/)
    work.end()
    await clock.settle()
    expect(healthOf(lease).healthy).toBe(true)
  })

  it('knows the work of a lease of a backend of its own', async () => {
    const lease = new ThreeMethods()
    const work = later()
    const run = lease.run(() => work.promise).catch(() => {})
    await new Promise((done) => setImmediate(done))
    expect(healthOf(lease)).toEqual({ healthy: true, reason: undefined, details: { name: 'job', isValid: true } })
    lease.lose({ reason: 'taken' })
    await run
    expect(healthOf(lease).healthy).toBe(false)
    work.end()
    await new Promise((done) => setImmediate(done))
    expect(healthOf(lease).healthy).toBe(true)
  })

  it('is not that of something else', () => {
    for (const other of [undefined, null, 'job', {}]) {
      expect(() => healthOf(other as never)).toThrow(LeaseConfigurationError)
    }
  })
})
