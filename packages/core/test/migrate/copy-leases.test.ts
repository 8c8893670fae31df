import { setImmediate as nextTurn } from 'node:timers/promises'
import { LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { copyLeases, migrate } from '@leasehold/core/migrate'
import { viewOf } from '@leasehold/core/store'
import type { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../support/held-lease.js'
import { call, granted, twoStores } from './two-stores.js'

/** Lets time pass until the promise has settled; a listing takes turns of the event loop. */
async function settled<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  promise.then(end, end)
  for (let turn = 0; turn < 1_000 && !isOver; turn += 1) {
    await nextTurn()
    await clock.advance(1)
  }
  return await promise
}

describe('copyLeases', () => {
  it('takes along the leases that nobody acquires, with their tokens and metadata', async () => {
    const { clock, from, to, both } = await twoStores('from')
    for (let index = 0; index < 40; index += 1) {
      const name = `job ${index}`
      const first = await granted(from, 'old', { name })
      await from.raiseToken(first, 500n, call)
      await from.release({ ...first, fencingToken: 500n }, call, { done: String(index) })
    }
    const held = await granted(from, 'old', { name: 'held' })
    const copying = copyLeases(both, { clock, logger: silentLogger, heartbeatTimeout: 10_000 })
    const outcome = await settled(clock, copying)
    expect(outcome.held).toEqual(['held'])
    expect(outcome.copied).toHaveLength(41)
    await from.release(held)
    for (let index = 0; index < 40; index += 1) {
      const name = `job ${index}`
      expect((await to.read(name))?.metadata.done).toBe(String(index))
      expect((await granted(to, 'new', { name })).fencingToken).toBeGreaterThan(500n)
    }
  })

  it('takes names where a store cannot list them, and only those with the prefix', async () => {
    const { clock, from, to } = await twoStores()
    const both = migrate(viewOf(from, { list: () => undefined }), to)
    await expect(copyLeases(both)).rejects.toThrow('give them as names')
    const copying = copyLeases(both, { clock, names: ['a/1', 'b/1'], prefix: 'a/' })
    expect(await settled(clock, copying)).toEqual({ copied: ['a/1'], held: [] })
  })

  it('refuses any other store', async () => {
    await expect(copyLeases(new MemoryLeaseStore())).rejects.toThrow(LeaseConfigurationError)
    await expect(copyLeases(undefined as never)).rejects.toThrow('copyLeases takes the store that migrate')
  })

  it('rejects with the error of a lease that cannot be copied', async () => {
    const { clock, from, both } = await twoStores()
    await from.release(await granted(from, 'old', { name: 'large' }), call, { a: 'x'.repeat(4_095) })
    const copying = copyLeases(both, { clock, logger: silentLogger })
    await expect(settled(clock, copying)).rejects.toThrow('metadata has')
  })
})
