import { createLease, LeaseTimeoutError, MemoryLeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { INTERVAL, LIMIT, setUp, silentLogger, TTL } from '../support/held-lease.js'
import { recordOf } from '../support/scripted-store.js'

// No jitter, so that the times below are exact. Other tests cover the jitter.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe('rule 8: every change of a record is conditional on our grant', () => {
  it('a stale holder does not free the lease of the next holder', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT, clock }
    const stale = createLease(store, 'job', { ...times, owner: 'stale', logger: silentLogger })
    const next = createLease(store, 'job', { ...times, owner: 'next', logger: silentLogger })
    expect(await stale.acquire()).toBe(true)
    clock.block(TTL)
    expect(await next.acquire()).toBe(true)
    expect(await stale.release()).toBe(false)
    expect(next.checkLease()).toBe(true)
    expect(await store.read('job', new AbortableCall())).toMatchObject({ owner: 'next', state: 'leased' })
  })

  it('releases only a record with the grant id of the claim', async () => {
    const { clock, store, lease } = setUp()
    const rejected = expect(lease.acquire()).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await rejected
    store.last('read').answer(recordOf())
    await clock.advance(LIMIT)
    store.last('read').answer(recordOf())
    await clock.advance(TTL)
    expect(store.count('release')).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('fencing tokens grow over release, expiry, deletion', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const tokens: bigint[] = []
    for (const end of ['release', 'expire', 'delete', 'release', 'expire'] as const) {
      const lease = createLease(store, 'job', {
        heartbeatTimeout: TTL,
        heartbeatInterval: INTERVAL,
        operationTimeout: LIMIT,
        clock,
        logger: silentLogger,
      })
      expect(await lease.acquire()).toBe(true)
      tokens.push(lease.fencingToken ?? 0n)
      if (end === 'release') await lease.release()
      if (end === 'expire') clock.block(TTL)
      if (end === 'delete') await store.delete('job')
    }
    expect(tokens).toEqual([...tokens].sort((a, b) => Number(a - b)))
    expect(new Set(tokens).size).toBe(tokens.length)
  })
})
