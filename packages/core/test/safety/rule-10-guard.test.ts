import { createLease, LeaseLostError, MemoryGuard, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { INTERVAL, LIMIT, silentLogger, TTL } from '../support/held-lease.js'

describe('rule 10: no lease is exclusive unless the resource checks the fencing token', () => {
  it('a write that starts under the lease and arrives after its end is rejected by its token', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT, clock }
    const [first, second] = ['first', 'second'].map((owner) =>
      createLease(store, 'job', { ...times, owner, logger: silentLogger }),
    )
    if (first === undefined || second === undefined) throw new Error('two leases')
    const guard = new MemoryGuard()
    expect(await first.acquire()).toBe(true)
    const token = first.fencingToken ?? 0n
    expect(first.checkLease()).toBe(true)
    // The process was stopped after a successful check, so no check of the lease can help.
    clock.block(TTL)
    expect(await second.acquire()).toBe(true)
    guard.write('data', second.fencingToken ?? 0n, 'by the second')
    expect(() => guard.write('data', token, 'by the first, late')).toThrow(LeaseLostError)
    expect(guard.read('data')).toBe('by the second')
  })
})
