import { createLease, GuardedCell, LeaseLostError, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { INTERVAL, LIMIT, silentLogger, TTL } from '../support/held-lease.js'

describe('rule 10: no lease is exclusive unless the resource checks the fencing token', () => {
  it('a write that was begun under the lease and arrives after its end is refused by the token', async () => {
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
    // The check was true, and then the process was stopped: no check can help here.
    clock.block(TTL)
    expect(await second.acquire()).toBe(true)
    cell.writeFenced('by the second', second.fencingToken ?? 0n)
    expect(() => cell.writeFenced('by the first, late', token)).toThrow(LeaseLostError)
    expect(cell.read()).toBe('by the second')
  })
})
