import { type Grant, MemoryLeaseStore } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import { casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { expect, it } from 'vitest'
import { MapRegister } from '../cas/map-register.js'
import { granted, isRefused, TTL } from './two-stores.js'

it('a challenger of a silent holder is granted the name within a ttl and its poll, though the new store observes', async () => {
  const clock = new VirtualClock()
  const register = new MapRegister()
  const from = new MemoryLeaseStore({ clock })
  const open = () => migrate(from, casStore(register, { clock, probe: false }))
  const silent: Grant = await granted(open(), 'silent')
  const challenger = open()
  let passed = 0
  while (await isRefused(challenger, 'challenger')) {
    await clock.advance(TTL / 20)
    passed += 1
  }
  expect(passed / 20).toBeLessThan(1.2)
  expect(silent.ttl).toBe(TTL)
})
