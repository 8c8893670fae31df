import { LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { Module } from '@nestjs/common'
import { HealthCheckService, TerminusModule } from '@nestjs/terminus'
import { Test } from '@nestjs/testing'
import { expect, it, onTestFinished } from 'vitest'
import { InjectLeases, LEASEHOLD_OPTIONS, LeasedCron, LeaseholdModule, Leases } from '../src/index.js'
import { LeaseholdHealthIndicator } from '../src/terminus.js'
import { LeaseholdTestingModule, testLeaseholdOptions } from '../src/testing.js'
import { Fleet, MINUTE, silent } from './support/application.js'

class Uses {
  @InjectLeases()
  readonly leases!: Leases
}
class Feature {}
Module({ providers: [Uses], exports: [Uses] })(Feature)

async function started(imports: NonNullable<Parameters<typeof Test.createTestingModule>[0]['imports']>) {
  const module = await Test.createTestingModule({ imports }).setLogger(silent).compile()
  onTestFinished(() => module.close())
  return await module.init()
}

it('forRoot gives all modules the leases', async () => {
  const store = new MemoryLeaseStore()
  const module = await started([Feature, LeaseholdModule.forRoot({ store })])
  expect(module.get(Uses, { strict: false }).leases.store).toBe(store)
})

it('forRootAsync waits for the options of another module', async () => {
  class Settings {
    readonly prefix = 'shop/'
  }
  class SettingsModule {}
  Module({ providers: [Settings], exports: [Settings] })(SettingsModule)
  const module = await started([
    Feature,
    LeaseholdModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: async ({ prefix }: Settings) => ({ store: new MemoryLeaseStore(), prefix }),
    }),
  ])
  expect(module.get(Uses, { strict: false }).leases.lease('a').settings.name).toBe('shop/a')
})

it('with isGlobal: false, only modules that import it have the leases', async () => {
  const store = new MemoryLeaseStore()
  const leasehold = LeaseholdModule.forRoot({ store, isGlobal: false })
  await expect(started([Feature, leasehold])).rejects.toThrow(/resolve dependencies of the Uses/)
  class Importing {}
  Module({ imports: [leasehold], providers: [Uses] })(Importing)
  expect((await started([Importing])).get(Uses, { strict: false }).leases.store).toBe(store)
})

it.each([
  [{}, 'store must be a LeaseStore, such as new RedisLeaseStore(client), not undefined'],
  [{ store: 'redis' }, 'store must be a LeaseStore, such as new RedisLeaseStore(client), not redis'],
  [{ store: new MemoryLeaseStore(), guardcron: true }, "has no option 'guardcron': did you mean 'guardCron'?"],
  [{ store: new MemoryLeaseStore(), guardCron: 'yes' }, 'guardCron must be true, false'],
  [{ store: new MemoryLeaseStore(), guardCron: { atmostFor: 1 } }, "did you mean 'atMostFor'?"],
  [{ store: new MemoryLeaseStore(), prefix: 7 }, 'prefix must be a text'],
  [{ store: new MemoryLeaseStore(), stopTimeout: -1 }, 'LeaseholdModule: stopTimeout'],
])('forRoot with %o is an error at the start', async (options, message) => {
  const fault: unknown = await started([LeaseholdModule.forRoot(options as never)]).catch((error) => error)
  expect(fault).toBeInstanceOf(LeaseConfigurationError)
  expect(String(fault)).toContain(message)
})

it('closes the store when the application has shut down, unless it is to stay open', async () => {
  for (const closeStore of [undefined, false]) {
    const store = new MemoryLeaseStore()
    const module = await started([LeaseholdModule.forRoot({ store, closeStore })])
    await module.close()
    expect(store.closed.aborted).toBe(closeStore === undefined)
  }
})

it('warns once if the shutdown hooks are off', async () => {
  const fleet = new Fleet()
  const lines: string[] = []
  const logger = { debug() {}, info() {}, warn: (line: string) => lines.push(line), error() {} }
  const listeners = process.listeners('SIGTERM')
  const interrupts = process.listeners('SIGINT')
  process.removeAllListeners('SIGTERM')
  process.removeAllListeners('SIGINT')
  onTestFinished(() => {
    for (const listener of listeners) process.on('SIGTERM', listener)
    for (const listener of interrupts) process.on('SIGINT', listener)
  })
  await fleet.start([], { logger })
  const application = await fleet.start([], { logger })
  application.enableShutdownHooks(['SIGTERM'] as never)
  await fleet.clock.advance(500)
  expect(lines).toEqual([])
  await application.close()
  process.removeAllListeners('SIGTERM')
  await fleet.clock.advance(MINUTE)
  expect(lines).toEqual([expect.stringContaining('app.enableShutdownHooks()')])
})

it('the health indicator for @nestjs/terminus follows the leases', async () => {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  store.renew = () => Promise.reject(new Error('the store is down'))
  store.renewMany = () => Promise.reject(new Error('the store is down'))
  const module = await Test.createTestingModule({
    imports: [TerminusModule, LeaseholdTestingModule.forRoot({ clock, store })],
    providers: [LeaseholdHealthIndicator],
  })
    .setLogger(silent)
    .compile()
  await module.init()
  onTestFinished(() => module.close())
  const indicator = module.get(LeaseholdHealthIndicator)
  expect(indicator.isHealthy()).toEqual({ leases: { status: 'up' } })
  const lease = module.get(Leases, { strict: false }).lease('a')
  await lease.acquire()
  await clock.advance(lease.settings.timeouts.heartbeatInterval * 2)
  await expect(module.get(HealthCheckService).check([() => indicator.isHealthy()])).rejects.toThrow()
  expect(indicator.isHealthy('locks')).toMatchObject({
    locks: { status: 'down', reason: expect.stringContaining("'a'") },
  })
})

it('an application that imports LeaseholdModule is tested with leases in memory', async () => {
  const ticks: unknown[] = []
  class Bills {
    @LeasedCron('0 3 * * *')
    print() {
      ticks.push(true)
    }
  }
  class AppModule {}
  Module({ imports: [LeaseholdModule.forRoot({ store: undefined as never })], providers: [Bills] })(AppModule)
  const clock = new VirtualClock()
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(LEASEHOLD_OPTIONS)
    .useValue(testLeaseholdOptions({ clock }))
    .setLogger(silent)
    .compile()
  await module.init()
  await clock.advance(24 * 60 * MINUTE)
  await module.close()
  expect(ticks).toEqual([true])
})
