import { VirtualClock } from '@leasehold/testkit'
import { expect, it } from 'vitest'
import { Reports } from './readme/guard-cron.js'
import { Accounts, Nights, Prices } from './readme/methods.js'
import { closesAccountsAtNight, runsAppModule } from './readme/testing.js'
import { Fleet, MINUTE, withCron } from './support/application.js'

it('the shortest program sends the reports once a day, in a test of it', async () => {
  const clock = new VirtualClock()
  const module = await runsAppModule(clock)
  await clock.advance(24 * 60 * MINUTE)
  await module.close()
  expect(module.get(Reports).sent).toBe(1)
})

it('the test of the guide passes', async () => {
  expect(await closesAccountsAtNight()).toEqual(['closed for 2026-01-01T02:00:00.000Z'])
})

it('the methods of the guide do what they say', async () => {
  const fleet = new Fleet()
  const application = await fleet.start([Accounts, Prices, Nights], withCron)
  const accounts = application.get(Accounts)
  await accounts.book('7', 100)
  expect(accounts.log).toEqual(['booked 100 on 7 under token 1'])
  expect(application.leases.schedules).toEqual(['Accounts.close'])
  expect(await application.get(Nights).export()).toBe('written under token 1')
  const paused = application.get(Nights).pause()
  await fleet.clock.settle()
  await paused
  await fleet.clock.advance(24 * 60 * MINUTE)
  expect(accounts.log).toHaveLength(1)
})
