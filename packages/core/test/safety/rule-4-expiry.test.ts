import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { INTERVAL, LIMIT, silentLogger, TTL } from '../support/held-lease.js'

const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT, logger: silentLogger }

describe('rule 4: challengers judge expiry by the clock of the store', () => {
  it('a challenger is granted the name at the end of the ttl by the clock of the store, independent of its own clock', async () => {
    const ofStore = new VirtualClock()
    const store = new MemoryLeaseStore({ clock: ofStore })
    const [ofHolder, ofChallenger] = [new VirtualClock(), new VirtualClock()]
    const holder = createLease(store, 'job', { ...times, clock: ofHolder })
    const challenger = createLease(store, 'job', { ...times, clock: ofChallenger })
    expect(await holder.acquire()).toBe(true)
    ofChallenger.block(3_600_000)
    expect(await challenger.acquire()).toBe(false)
    ofStore.block(TTL - 1)
    expect(await challenger.acquire()).toBe(false)
    ofStore.block(1)
    expect(await challenger.acquire()).toBe(true)
  })

  it.each([0.995, 1, 1.005])(
    'the validity of the holder has ended by then, although its clock runs at %f',
    async (rate) => {
      const ofStore = new VirtualClock()
      const store = new MemoryLeaseStore({ clock: ofStore })
      const ofHolder = new VirtualClock()
      const holder = createLease(store, 'job', { ...times, clock: ofHolder })
      const challenger = createLease(store, 'job', { ...times, clock: ofStore })
      expect(await holder.acquire()).toBe(true)
      for (let elapsed = 0; elapsed < TTL; elapsed += 50) {
        ofStore.block(50)
        ofHolder.block(50 * rate)
        if (await challenger.acquire()) expect(holder.checkLease()).toBe(false)
      }
      expect(challenger.checkLease()).toBe(true)
      expect(holder.checkLease()).toBe(false)
    },
  )
})
