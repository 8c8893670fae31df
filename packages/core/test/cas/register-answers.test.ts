import { createLease } from '@leasehold/core'
import { casStore } from '@leasehold/core/store'
import { granted, never } from '@leasehold/testing/job-claims'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { guidOf } from '../support/guid-of.js'
import { silentLogger, TTL } from '../support/held-lease.js'
import { MapRegister } from './map-register.js'

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

  it('that answers a ttl that is no number does not pass it on to the next owner', async () => {
    const register = new MapRegister()
    const store = casStore(register, { clock: new VirtualClock() })
    const holder = await granted(store, guidOf('holder'))
    const { read } = register
    register.read = async (name) => {
      const entry = await read.call(register, name)
      return entry && { ...entry, record: { ...entry.record, ttl: Number.NaN } }
    }
    const changed = await store.change(holder, { grantId: guidOf('next'), owner: 'next' }, never)
    expect(changed).toMatchObject({ granted: true, grant: { owner: 'next', ttl: holder.ttl } })
    expect(register.recordOf(holder.name).ttl).toBe(holder.ttl)
  })
})
