import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { cleanUpAtNight } from '../readme/schedule.js'

it('the example of the README is due at half past two in Berlin', async () => {
  await using schedule = cleanUpAtNight(new MemoryLeaseStore(), async () => {})
  const { next } = await schedule.read()
  const time = next?.toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' })
  // On the day on which this time does not exist: right after the gap.
  expect(['02:30:00', '03:00:00']).toContain(time)
})
