import { LeaseConfigurationError } from '@leasehold/core'
import type { Tick } from '@leasehold/recipes'
import { Injectable, Scope } from '@nestjs/common'
import { expect, it } from 'vitest'
import { LeasedCron, type LeasedCronOptions, LeaseSignal, LeaseToken, OnLeader } from '../src/index.js'
import { Fleet, MINUTE } from './support/application.js'

function bills(cron = '* * * * *', options?: LeasedCronOptions) {
  const ticks: Tick[] = []
  class Bills {
    @LeasedCron(cron, options)
    async print(tick: Tick) {
      ticks.push(tick)
    }
  }
  return { Bills, ticks }
}

it('a @LeasedCron method runs on one instance, without @nestjs/schedule, and gets the tick', async () => {
  const fleet = new Fleet()
  const { Bills, ticks } = bills()
  for (const skew of [0, 30_000]) await fleet.start([Bills], { skew })
  await fleet.clock.advance(5 * MINUTE)
  const dues = ticks.map(({ due }) => due.getTime())
  expect(new Set(dues).size).toBe(dues.length)
  expect(dues.length).toBeGreaterThanOrEqual(5)
})

it('a @LeasedCron method gets the token and the signal at its parameters', async () => {
  const fleet = new Fleet()
  const seen: unknown[] = []
  class Bills {
    @LeasedCron('* * * * *', { name: 'bills', timeZone: 'Europe/Berlin', missed: 'run-once' })
    print(@LeaseSignal() signal: AbortSignal, @LeaseToken() token: bigint) {
      seen.push(signal.aborted, token)
    }
  }
  const { leases } = await fleet.start([Bills], { prefix: 'shop/' })
  await fleet.clock.advance(MINUTE)
  expect(seen).toEqual([false, 1n])
  expect(leases.schedules).toEqual(['bills'])
  expect(await leases.schedule('bills')?.read()).toMatchObject({ plan: 'cron * * * * * in Europe/Berlin' })
  const records = []
  for await (const { name } of leases.store.list?.('shop/bills', { onAbort: () => () => {} } as never) ?? [])
    records.push(name)
  expect(records).toContain('shop/bills')
})

it('at the start, a wrong @LeasedCron is an error that names the class and the method', async () => {
  const fleet = new Fleet()
  const faults: Readonly<Record<string, ReturnType<typeof bills>['Bills']>> = {
    "Bills.print: @LeasedCron: Schedule: cron 'nightly' is not a cron expression": bills('nightly').Bills,
    'Bills.print: @LeasedCron: Schedule: atMostFor': bills('* * * * *', { atMostFor: -1 }).Bills,
    "Bills.print: @LeasedCron: Schedule has no option 'timezone': did you mean 'timeZone'?": bills('* * * * *', {
      timezone: 'UTC',
    } as LeasedCronOptions).Bills,
    "Bills.print: @LeasedCron: timeZone 'Mars' is not known": bills('* * * * *', { timeZone: 'Mars' }).Bills,
    'Bills.print: @LeasedCron: its name must be a text, not 7': bills('* * * * *', { name: 7 as never }).Bills,
  }
  for (const [message, Bills] of Object.entries(faults)) {
    const fault = await fleet.faultOf([Bills])
    expect(fault).toBeInstanceOf(LeaseConfigurationError)
    expect(String(fault).replace('@LeasedCron: Schedule: timeZone', '@LeasedCron: timeZone')).toContain(message)
  }
})

it('at the start, two methods with one name are an error that names both', async () => {
  class One {
    @LeasedCron('* * * * *', { name: 'nightly' })
    run() {}
  }
  class Two {
    @LeasedCron('0 * * * *', { name: 'nightly' })
    run() {}
  }
  class Three {
    @OnLeader('nightly')
    lead() {}
  }
  const fleet = new Fleet()
  const message = "Two.run: @LeasedCron: the name 'nightly' is also that of One.run"
  expect(String(await fleet.faultOf([One, Two]))).toContain(message)
  expect(String(await fleet.faultOf([Two, Three]))).toContain("the name 'nightly' is also that of Three.lead")
})

it('at the start, @LeasedCron in a provider of a request is an error', async () => {
  class Bills {
    @LeasedCron('* * * * *')
    print() {}
  }
  Injectable({ scope: Scope.REQUEST })(Bills)
  const fault = await new Fleet().faultOf([Bills])
  expect(String(fault)).toContain('Bills.print: @LeasedCron: its provider is made for each request')
})
