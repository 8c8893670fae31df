import { createLease, GuardedCell, LeaseLostError, MemoryLeaseStore } from '@leasehold/core'
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
    const cell = new GuardedCell(store, 'job', 'empty')
    expect(await first.acquire()).toBe(true)
    const token = first.fencingToken ?? 0n
    expect(first.checkLease()).toBe(true)
    // The process was stopped after a successful check, so no check of the lease can help.
    clock.block(TTL)
    expect(await second.acquire()).toBe(true)
    cell.writeFenced('by the second', second.fencingToken ?? 0n)
    expect(() => cell.writeFenced('by the first, late', token)).toThrow(LeaseLostError)
    expect(cell.read()).toBe('by the second')
  })
})
