import { LeaseConfigurationError, type StoreHeld } from '@leasehold/core'
import type { Tick } from '@leasehold/recipes'
import { eventually } from '@leasehold/testing'
import { Module, type OnApplicationBootstrap } from '@nestjs/common'
import { Cron, CronExpression, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule'
import { describe, expect, it } from 'vitest'
import { EveryInstance, LeaseHeld, LeaseToken } from '../src/index.js'
import { Fleet, MINUTE, withCron } from './support/application.js'

/** A provider with a `@Cron` method, and its runs. */
function reports(cron = '* * * * *', options = {}) {
  const runs: Tick[] = []
  class Reports {
    @Cron(cron, options)
    async send(@LeaseHeld() tick: Tick) {
      runs.push(tick)
    }
  }
  return { Reports, runs, dues: () => runs.map(({ due }) => due.toISOString()) }
}

describe('guardCron', () => {
  it('runs each tick once on two instances', async () => {
    const fleet = new Fleet()
    const { Reports, dues } = reports()
    await fleet.start([Reports], withCron)
    await fleet.start([Reports], withCron)
    await fleet.clock.advance(3 * MINUTE + 500)
    expect(dues()).toEqual(['2026-01-01T00:01:00.000Z', '2026-01-01T00:02:00.000Z', '2026-01-01T00:03:00.000Z'])
  })

  it('runs each tick once although the clocks of the instances differ by 30 s and more', async () => {
    const fleet = new Fleet()
    const { Reports, dues } = reports()
    for (const skew of [0, 30_000, -95_000]) await fleet.start([Reports], { ...withCron, skew })
    await fleet.clock.advance(10 * MINUTE)
    expect(new Set(dues()).size).toBe(dues().length)
    expect(dues().length).toBeGreaterThanOrEqual(9)
  })

  it('goes on when the instance that ran the ticks has shut down', async () => {
    const fleet = new Fleet()
    const { Reports, runs } = reports()
    const first = await fleet.start([Reports], withCron)
    await fleet.clock.advance(MINUTE)
    await fleet.start([Reports], withCron)
    await first.close()
    await fleet.clock.advance(2 * MINUTE)
    expect(runs).toHaveLength(3)
  })

  it('never lets @nestjs/schedule run a guarded method by itself, also while other modules start slowly', async () => {
    const fleet = new Fleet()
    const ticks: (StoreHeld | undefined)[] = []
    class Reports {
      @Cron('* * * * * *')
      send(@LeaseHeld() held: StoreHeld) {
        ticks.push(held)
      }
    }
    const unguarded: number[] = []
    class Slow implements OnApplicationBootstrap {
      @Cron('* * * * * *')
      @EveryInstance()
      count() {
        unguarded.push(unguarded.length)
      }
      async onApplicationBootstrap() {
        // The jobs of Nest run meanwhile, by the clock of the machine.
        await eventually('Nest runs its own jobs', async () => unguarded.length >= 2)
      }
    }
    class Early {}
    Module({ providers: [Slow] })(Early)
    const imports = [ScheduleModule.forRoot(), { module: Early, global: true }]
    await fleet.start([Reports], { guardCron: true, imports })
    await eventually('Nest goes on', async () => unguarded.length >= 3)
    expect(ticks).toEqual([])
    await fleet.clock.advance(2_500)
    expect(ticks.map((held) => typeof held?.fencingToken)).toEqual(['bigint', 'bigint'])
  })

  it('calls the method on its object, with the fencing token where it asks for it, and nothing else', async () => {
    const fleet = new Fleet()
    const seen: unknown[] = []
    class Reports {
      readonly kind = 'daily'
      @Cron('* * * * *')
      send(...args: unknown[]) {
        seen.push(this.kind, args)
      }
      @Cron('* * * * *')
      write(@LeaseToken() token: bigint) {
        seen.push(token)
      }
    }
    await fleet.start([Reports], withCron)
    await fleet.clock.advance(MINUTE)
    expect(seen).toEqual(expect.arrayContaining(['daily', [], 1n]))
  })

  it('takes the time zone, or the offset from UTC, and the name of the method', async () => {
    const fleet = new Fleet()
    const { Reports } = reports('0 3 * * *', { timeZone: 'Asia/Tokyo', name: 'nightly' })
    class Other {
      @Cron('0 3 * * *', { utcOffset: -120 })
      send() {}
      @Cron(CronExpression.EVERY_WEEKDAY)
      local() {}
    }
    const { leases } = await fleet.start([Reports, Other], withCron)
    expect(leases.schedules).toEqual(['nightly', 'Other.send', 'Other.local'])
    expect((await leases.schedule('nightly')?.read())?.next?.toISOString()).toBe('2026-01-01T18:00:00.000Z')
    expect((await leases.schedule('Other.send')?.read())?.next?.toISOString()).toBe('2026-01-01T05:00:00.000Z')
  })

  it('understands each expression of CronExpression, and each preset, as the package cron does', async () => {
    const fleet = new Fleet()
    const presets = ['secondly', 'minutely', 'hourly', 'daily', 'weekly', 'weekdays', 'weekends', 'monthly', 'yearly']
    const expressions = [...new Set<string>([...Object.values(CronExpression), ...presets.map((name) => `@${name}`)])]
    const providers = expressions.map((name) => reports(name, { timeZone: 'Europe/Berlin', name }).Reports)
    const application = await fleet.start(providers, withCron)
    const { leases } = application
    const now = new Date(fleet.clock.wall())
    for (const expression of expressions) {
      const { next } = (await leases.schedule(expression)?.read()) ?? {}
      const { cronTime } = application.get(SchedulerRegistry).getCronJob(expression)
      const expected = cronTime.getNextDateFrom(now, 'Europe/Berlin')
      expect(next?.toISOString(), expression).toBe(expected.toUTC().toISO())
    }
  })

  it('gives the methods that two classes inherit a schedule each', async () => {
    const fleet = new Fleet()
    const seen: string[] = []
    abstract class Base {
      @Cron('* * * * *')
      send() {
        seen.push(this.constructor.name)
      }
    }
    class One extends Base {}
    class Two extends Base {}
    await fleet.start([One, Two, { provide: 'alias', useExisting: One }], withCron)
    await fleet.clock.advance(MINUTE)
    expect(seen.toSorted()).toEqual(['One', 'Two'])
  })

  it('leaves @Interval, @Timeout and @EveryInstance methods as they are, and says so', async () => {
    const fleet = new Fleet()
    const lines: string[] = []
    const logger = { debug() {}, info: (line: string) => lines.push(line), warn() {}, error() {} }
    class Cache {
      @Cron('0 0 1 1 *')
      @EveryInstance()
      refresh() {}
      @Cron('0 0 1 1 *')
      save() {}
      @Interval(100_000)
      look() {}
      @Timeout(100_000)
      once() {}
    }
    const { leases } = await fleet.start([Cache], { ...withCron, logger })
    expect(leases.schedules).toEqual(['Cache.save'])
    expect(lines).toEqual([
      'guardCron: on one instance only: Cache.save; on every instance still: Cache.look (@Interval), Cache.once (@Timeout)',
    ])
  })

  it('gives its options to the schedules', async () => {
    const fleet = new Fleet()
    const signals: AbortSignal[] = []
    class Reports {
      @Cron('* * * * *')
      async send(@LeaseHeld() { signal }: Tick) {
        signals.push(signal)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      }
    }
    await fleet.start([Reports], { ...withCron, guardCron: { atMostFor: 20_000 } })
    await fleet.clock.advance(MINUTE + 20_000)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('runs on when the method throws', async () => {
    const fleet = new Fleet()
    let calls = 0
    class Reports {
      @Cron('* * * * *')
      send() {
        calls += 1
        throw new Error('no paper')
      }
    }
    const { leases } = await fleet.start([Reports], withCron)
    await fleet.clock.advance(2 * MINUTE)
    expect(calls).toBe(2)
    expect(await leases.schedule('Reports.send')?.read()).toMatchObject({
      last: { outcome: 'failed', error: 'no paper' },
    })
  })
})

describe('a guarded job in the SchedulerRegistry', () => {
  it('starts and stops the schedule of its instance, and runs it by hand', async () => {
    const fleet = new Fleet()
    const { Reports, runs } = reports('* * * * *', { name: 'reports' })
    const application = await fleet.start([Reports], withCron)
    const job = application.get(SchedulerRegistry).getCronJob('reports')
    expect(job.isActive).toBe(true)
    await job.stop()
    expect(job.isActive).toBe(false)
    await fleet.clock.advance(2 * MINUTE)
    expect(runs).toEqual([])
    job.start()
    await fleet.clock.advance(MINUTE)
    expect(runs).toHaveLength(1)
    await job.fireOnTick()
    await fleet.clock.advance(MINUTE / 2)
    expect(runs[1]?.byHand).toBeDefined()
  })

  it('is not started if it is disabled, and later with an initial delay', async () => {
    const fleet = new Fleet()
    const disabled = reports('* * * * *', { name: 'disabled', disabled: true })
    const delayed = reports('* * * * *', { name: 'delayed', initialDelay: 2.5 * MINUTE })
    const application = await fleet.start([disabled.Reports, delayed.Reports], withCron)
    await fleet.clock.advance(2.4 * MINUTE)
    expect([disabled.runs, delayed.runs]).toEqual([[], []])
    await fleet.clock.advance(MINUTE)
    expect(disabled.runs).toEqual([])
    expect(delayed.runs).toHaveLength(1)
    application.get(SchedulerRegistry).getCronJob('disabled').start()
    await fleet.clock.advance(MINUTE)
    expect(disabled.runs).toHaveLength(1)
  })
})

describe('at the start, guardCron rejects', () => {
  it('two methods with one name', async () => {
    const fleet = new Fleet()
    class Reports {
      @Cron('* * * * *', { name: 'nightly' })
      send() {}
    }
    class Bills {
      @Cron('0 * * * *', { name: 'nightly' })
      print() {}
    }
    const imports = withCron.imports ?? []
    // @nestjs/schedule 12 rejects it by itself: an instance of the same class has another name there.
    const fault = await fleet.faultOf([Reports, Bills], { guardCron: true, imports })
    expect(String(fault)).toContain('nightly')
  })

  it('two objects of one class', async () => {
    const fleet = new Fleet()
    const { Reports } = reports()
    class Again {}
    Module({ providers: [Reports] })(Again)
    const fault = await fleet.faultOf([Reports], { ...withCron, imports: [...(withCron.imports ?? []), Again] })
    expect(fault).toBeInstanceOf(LeaseConfigurationError)
    expect(String(fault)).toContain(
      "Reports.send: @Cron: the name 'Reports.send' is also that of another object of this class",
    )
  })

  it('a date, an offset that is no whole hour, a class without a name', async () => {
    const fleet = new Fleet()
    class Dated {
      @Cron(new Date('2999-01-01T00:00:00Z'))
      send() {}
    }
    const anonymous = (() => {
      const { Reports } = reports()
      return class extends Reports {}
    })()
    Object.defineProperty(anonymous, 'name', { value: '' })
    const offset = reports('* * * * *', { utcOffset: 330 }).Reports
    expect(String(await fleet.faultOf([Dated], withCron))).toContain(
      'Dated.send: @Cron: guardCron takes cron expressions',
    )
    expect(String(await fleet.faultOf([offset], withCron))).toContain(
      'Reports.send: @Cron: guardCron takes a utcOffset',
    )
    expect(String(await fleet.faultOf([anonymous], withCron))).toContain(
      'send of a class without a name: @Cron: give it a name',
    )
  })

  it('a cron expression that fails', async () => {
    const fault = await new Fleet().faultOf([reports('61 * * * *').Reports], withCron)
    expect(fault).toBeInstanceOf(LeaseConfigurationError)
    expect(String(fault)).toContain("Reports.send: @Cron: Schedule: cron '61 * * * *' is not a cron expression")
  })

  it('an application without ScheduleModule', async () => {
    const fault = await new Fleet().faultOf([reports().Reports], { guardCron: true })
    expect(String(fault)).toContain('Reports.send: @Cron: guardCron finds no ScheduleModule')
  })
})

it('guardCron warns if there is nothing to guard', async () => {
  const lines: string[] = []
  const logger = { debug() {}, info() {}, warn: (line: string) => lines.push(line), error() {} }
  await new Fleet().start([], { ...withCron, logger })
  const { Reports } = reports()
  const imports = [ScheduleModule.forRoot({ cronJobs: false })]
  await new Fleet().start([Reports], { guardCron: true, imports, logger })
  expect(lines).toEqual(Array(2).fill('guardCron: Nest runs no @Cron method here, so there is nothing to guard'))
})

it('without guardCron, @Cron methods are left as they are', async () => {
  const { Reports, runs } = reports('* * * * * *')
  await new Fleet().start([Reports], { imports: withCron.imports ?? [] })
  await eventually('Nest runs the method', async () => runs.length > 0)
  expect(runs[0]).toBeUndefined()
})
