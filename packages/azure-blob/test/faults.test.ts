import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { LeaseTimeoutError, systemClock } from '@leasehold/core'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never, TTL } from './support/claims.js'
import { Proxied, times } from './support/proxied.js'
import type { Behaviour, Rule } from './support/service-proxy.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

/** Does so to the heartbeats alone. */
function toHeartbeats(behaviour: Behaviour): Rule {
  return ({ leaseAction }) => (leaseAction === 'renew' ? behaviour : undefined)
}

/** Does so to the request in the given place, from 1. */
function toRequest(place: number, behaviour: Behaviour): Rule {
  let count = 0
  return () => {
    count += 1
    return count === place ? behaviour : undefined
  }
}

const busy = { 'retry-after': '1', 'x-ms-error-code': 'ServerBusy' }

/** Faults without an answer about the state of the lease. */
const PASSING: readonly (readonly [string, Behaviour])[] = [
  ['409, not of a lease', { kind: 'answer', status: 409, headers: { 'x-ms-error-code': 'ContainerBeingDeleted' } }],
  ['412', { kind: 'answer', status: 412 }],
  ['429', { kind: 'answer', status: 429, headers: busy }],
  ['500', { kind: 'answer', status: 500 }],
  ['503', { kind: 'answer', status: 503, headers: busy }],
  ['a lost answer', { kind: 'drop-response' }],
  ['a reset', { kind: 'reset' }],
  ['a black hole', { kind: 'black-hole' }],
]

describe.concurrent('heartbeats', () => {
  it.each(PASSING)(
    'that fail with %s are repeated, and the lease is kept',
    { timeout: 60_000 },
    async (_, behaviour) => {
      // The test's own, for the tests of a table are given no context.
      const finish: (() => unknown)[] = []
      const held = await Proxied.held({ onTestFinished: (end) => finish.push(end) }, azurite)
      held.proxy.behave(toHeartbeats(behaviour))
      await vi.waitUntil(() => held.events.includes('jeopardy'), { timeout: 10_000 })
      await pause(2_000)
      held.proxy.heal()
      await vi.waitUntil(() => held.events.includes('recovered'), { timeout: TTL })
      expect(held.lease.checkLease()).toBe(true)
      expect(held.lost).toEqual([])
      for (const end of finish) await end()
    },
  )

  it('keep the pause that the service asks for', { timeout: 60_000 }, async (test) => {
    const held = await Proxied.held(test, azurite)
    const at: number[] = []
    held.proxy.behave(({ leaseAction }) => {
      if (leaseAction !== 'renew') return undefined
      at.push(systemClock.now())
      return { kind: 'answer', status: 503, headers: { 'retry-after': '2' } }
    })
    await vi.waitUntil(() => at.length === 3, { timeout: 20_000 })
    const [first = 0, second = 0, third = 0] = at
    // The service counts in seconds, and the clocks of the two processes are one.
    expect(second - first).toBeGreaterThanOrEqual(1_990)
    expect(third - second).toBeGreaterThanOrEqual(1_990)
  })

  it('that are slow in both directions keep the lease, one at a time', { timeout: 60_000 }, async (test) => {
    const held = await Proxied.held(test, azurite)
    held.proxy.behave(toHeartbeats({ kind: 'delay', before: 700, after: 700 }))
    await pause(TTL + 5_000)
    expect(held.lease.checkLease()).toBe(true)
    expect(held.events).not.toContain('jeopardy')
    expect(held.events.filter((event) => event === 'renewed').length).toBeGreaterThan(5)
  })

  it('that time out end their request, and the next is sent', { timeout: 60_000 }, async (test) => {
    const held = await Proxied.held(test, azurite)
    held.proxy.behave(toHeartbeats({ kind: 'black-hole' }))
    const given = () => held.proxy.requests.filter(({ abandoned }) => abandoned)
    await vi.waitUntil(() => given().length >= 2, { timeout: 12_000 })
    // All but the last, which may be under way.
    const renewals = held.proxy.requests.filter(({ leaseAction }) => leaseAction === 'renew')
    expect(renewals.slice(0, -1).every(({ abandoned }) => abandoned)).toBe(true)
  })

  it('never outlive their time limit, although the SDK retries for longer', {
    timeout: 60_000,
  }, async (test) => {
    // Its own retries: four tries, four seconds and more apart.
    const held = await Proxied.held(test, azurite, {})
    held.proxy.behave(toHeartbeats({ kind: 'answer', status: 503 }))
    await vi.waitUntil(() => held.lost.length > 0, { timeout: 2 * TTL })
    expect(held.lost).toMatchObject([{ reason: 'expired' }])
    await pause(times.operationTimeout)
    const renewals = () => held.proxy.requests.filter(({ leaseAction }) => leaseAction === 'renew').length
    const atTheEnd = renewals()
    await pause(12_000)
    expect(renewals()).toBe(atTheEnd)
  })

  it('that get no answer end the validity on the clock of the holder, before the service frees the name', {
    timeout: 90_000,
  }, async (test) => {
    const held = await Proxied.held(test, azurite)
    held.proxy.behave(() => ({ kind: 'black-hole' }))
    let heldWhenFree: boolean | undefined
    while (heldWhenFree === undefined) {
      const outcome = await held.outside.acquire(claimOf(held.name, { owner: 'next' }), never)
      if (outcome.granted) heldWhenFree = held.lease.checkLease()
      else await pause(20)
    }
    expect(heldWhenFree).toBe(false)
    expect(held.lost).toMatchObject([{ reason: 'expired', cause: { code: 'timeout' } }])
  })
})

describe.concurrent('a claim', () => {
  const places = [1, 2, 3] as const
  const ways: readonly Behaviour[] = [{ kind: 'drop-response' }, { kind: 'reset' }, { kind: 'answer', status: 503 }]
  const cases = places.flatMap((place) => ways.map((behaviour) => ({ place, behaviour })))

  it.each(cases)(
    'whose request $place fails by $behaviour.kind rejects, and leaves no grant behind',
    { timeout: 60_000 },
    async ({ place, behaviour }) => {
      const finish: (() => unknown)[] = []
      // A grant that is left behind never expires: only a release frees the name.
      const infinite = { heartbeatTimeout: Number.POSITIVE_INFINITY }
      const proxied = await Proxied.open({ onTestFinished: (end) => finish.push(end) }, azurite, undefined, infinite)
      // The blob is there: a claim takes three requests.
      await proxied.outside.release(await granted(proxied.outside, proxied.name), never)
      proxied.proxy.behave(toRequest(place, behaviour))
      const told = await proxied.acquire().catch((error: { code: string }) => error.code)
      const record = await proxied.outside.read(proxied.name, never)
      if (told === true) {
        expect(record).toMatchObject({ state: 'leased', fencingToken: proxied.lease.fencingToken })
        await proxied.lease.release()
      } else {
        expect(told).toBe('unavailable')
      }
      // A possible grant is released in the background.
      const next = () => proxied.outside.acquire(claimOf(proxied.name, { owner: 'next' }), never)
      await vi.waitUntil(async () => (await next()).granted, { timeout: 45_000, interval: 200 })
      for (const end of finish) await end()
    },
  )

  it('that hangs rejects within the time limit', { timeout: 60_000 }, async (test) => {
    const proxied = await Proxied.open(test, azurite)
    proxied.proxy.behave(() => ({ kind: 'black-hole' }))
    const start = systemClock.now()
    await expect(proxied.acquire()).rejects.toThrow(LeaseTimeoutError)
    expect(systemClock.now() - start).toBeGreaterThanOrEqual(times.operationTimeout)
    proxied.proxy.heal()
    expect(await proxied.acquire({ wait: TTL })).toBe(true)
  })
})

describe.concurrent('a holder', () => {
  it('notices within one heartbeat that another client has broken its lease', { timeout: 60_000 }, async (test) => {
    const held = await Proxied.held(test, azurite)
    await held.lease.blob.getBlobLeaseClient(randomUUID()).breakLease(0)
    await vi.waitUntil(() => held.lost.length > 0, { timeout: times.heartbeatInterval + times.operationTimeout })
    expect(held.lost).toMatchObject([{ reason: 'broken' }])
  })

  it('notices that its container was deleted, and its next token is larger', {
    timeout: 60_000,
  }, async (test) => {
    const held = await Proxied.held(test, azurite)
    const token = held.lease.fencingToken ?? 0n
    const { containerName } = held.lease.blob
    await azurite.container(containerName).delete()
    await vi.waitUntil(() => held.lost.length > 0, { timeout: times.heartbeatInterval + times.operationTimeout })
    expect(held.lost).toMatchObject([{ reason: 'deleted' }])
    expect(await held.acquire({ wait: TTL })).toBe(true)
    expect(held.lease.fencingToken).toBeGreaterThan(token)
  })

  it('of an infinite lease notices that it was broken', { timeout: 60_000 }, async (test) => {
    const infinite = { heartbeatTimeout: Number.POSITIVE_INFINITY, heartbeatInterval: 1_000 }
    const held = await Proxied.held(test, azurite, undefined, infinite)
    expect((await held.lease.blob.getProperties()).leaseDuration).toBe('infinite')
    await held.outside.break(held.name, {}, never)
    await vi.waitUntil(() => held.lost.length > 0, { timeout: 10_000 })
    expect(held.lost).toMatchObject([{ reason: 'broken' }])
  })
})
