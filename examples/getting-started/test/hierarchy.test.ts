import { createLease, LeaseConflictError, MemoryLeaseStore } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { createHelper, createLeader, importAsLeader } from '../src/hierarchy.js'

describe('leases under leases', () => {
  it('the leader imports, and leaves both names free', async () => {
    const store = new MemoryLeaseStore()
    const signals: AbortSignal[] = []
    expect(await importAsLeader(store, 'inbox', async (signal) => void signals.push(signal))).toBe('imported')
    expect(signals).toHaveLength(1)
    expect((await store.read('leader'))?.state).toBe('available')
    expect((await store.read('import inbox'))?.state).toBe('available')
    await createLease(store, 'leader').acquire()
    expect(await importAsLeader(store, 'inbox', async () => {})).toBe('another instance leads')
  })

  it('a helper works while its leader leads', async () => {
    const store = new MemoryLeaseStore()
    const leader = createLeader(store, 'node-1')
    const helper = createHelper(store, '7', 'node-1')
    await expect(helper.acquire()).rejects.toThrow(LeaseConflictError)
    await leader.acquire()
    expect(await helper.acquire()).toBe(true)
    expect(helper.remaining).toBeLessThan(6_000)
    await helper.release()
    await leader.release()
    expect((await store.read('leader'))?.state).toBe('leased')
    await expect(helper.acquire()).rejects.toThrow(LeaseConflictError)
    await store.close()
  })
})
