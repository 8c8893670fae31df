import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { type Fault, FaultyStore, VirtualClock } from '@leasehold/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { beat, INTERVAL, LIMIT, setUpHeld, silentLogger, TTL, VALIDITY } from '../support/held-lease.js'
import { recordOf } from '../support/scripted-store.js'

// No jitter, so that the times below are exact. Other tests cover the jitter.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

const reset = new Error('read ECONNRESET')

describe('rule 6: transient failures are retried inside the validity, definitive answers end the lease at once', () => {
  it('one failed heartbeat does not end a lease', async () => {
    const fixture = await setUpHeld()
    const { clock, store, lease, losses, events } = fixture
    await clock.advance(INTERVAL)
    store.last('renew').fail(reset)
    await clock.settle()
    expect(lease.state).toBe('jeopardy')
    expect(lease.checkLease()).toBe(true)
    await beat(fixture, 3 * TTL)
    expect(losses).toEqual([])
    expect(events.slice(0, 4)).toEqual(['acquired', 'jeopardy', 'renewed', 'recovered'])
  })

  it('does not flood a store that fails at once, also near the end of the validity', async () => {
    const clock = new VirtualClock()
    let refused = -1
    const plan = (): Fault | undefined => {
      refused += 1
      if (refused === 0) return undefined
      return refused < 1_000 ? { kind: 'fail-before' } : { kind: 'hang' }
    }
    const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock, plan })
    const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT }
    const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
    expect(await lease.acquire()).toBe(true)
    await clock.advance(VALIDITY)
    expect(lease.state).toBe('idle')
    expect(refused).toBeGreaterThan(10)
    expect(refused).toBeLessThan(100)
  })

  it('retries with growing pauses, and every attempt has its own time limit', async () => {
    const { clock, store } = await setUpHeld()
    const sent: number[] = []
    const seen = new Set<unknown>()
    for (let instant = 0; instant < VALIDITY - 50; instant += 10) {
      await clock.advance(10)
      const call = store.calls.at(-1)
      if (call?.method !== 'renew' || seen.has(call)) continue
      seen.add(call)
      sent.push(clock.now())
      call.fail(reset)
      await clock.settle()
    }
    const pauses = sent.slice(1).map((instant, place) => instant - (sent[place] ?? 0))
    expect(sent.length).toBeGreaterThan(10)
    expect(pauses[3]).toBeGreaterThan(pauses[0] ?? 0)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(INTERVAL / 2)
  })

  it.each(['taken', 'broken', 'deleted', 'expired'] as const)('%s ends the lease at once', async (reason) => {
    const { clock, store, lease, losses } = await setUpHeld()
    await clock.advance(INTERVAL)
    store.last('renew').answer({ renewed: false, reason, holder: recordOf({ owner: 'successor' }) })
    await clock.settle()
    expect(losses).toEqual([{ reason, owner: 'successor' }])
    expect(lease.checkLease()).toBe(false)
    expect(store.count('release')).toBe(0)
  })
})
