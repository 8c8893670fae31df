import { createLease } from '@leasehold/core'
import { casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger, TTL } from '../support/held-lease.js'

const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_000, operationTimeout: 1_000 }

describe('a compare-and-set register', () => {
  it.each([
    ['null', null],
    ['true', true],
    ['an object without a version', {}],
  ])('that answers %s to a write has confirmed nothing: nothing is granted', async (_, answer) => {
    const clock = new VirtualClock()
    const write = async () => answer as never
    const store = casStore({ read: async () => undefined, create: write, replace: write }, { clock })
    const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
    const rejected = expect(lease.acquire()).rejects.toMatchObject({ code: 'unavailable' })
    await clock.advance(TTL)
    await rejected
    expect(lease.checkLease()).toBe(false)
  })
})
