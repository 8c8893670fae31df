import { LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { Module } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { describe, expect, it } from 'vitest'
import { LeasedCron, LeaseholdModule, OnLeader, WithLease } from '../src/index.js'
import { testLeaseholdOptions } from '../src/testing.js'

/** Starts an application with a decorated method. */
async function start(decorator: (target: object, key: string, descriptor: never) => void): Promise<void> {
  class Reports {
    async send() {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Reports.prototype, 'send') as PropertyDescriptor
  decorator(Reports.prototype, 'send', descriptor as never)
  Object.defineProperty(Reports.prototype, 'send', descriptor)
  await startWith({ store: new MemoryLeaseStore() }, Reports)
}

async function startWith(options: object, ...providers: (new () => object)[]): Promise<void> {
  class AppModule {}
  Module({ imports: [LeaseholdModule.forRoot(options as never)], providers })(AppModule)
  const module = await Test.createTestingModule({ imports: [AppModule] }).compile()
  await module.init()
  await module.close()
}

describe('an unknown option is a LeaseConfigurationError at the start that suggests the right one', () => {
  it.each([
    ['LeasedCron', 'time-zone', 'timeZone', (o: object) => start(LeasedCron('0 3 * * *', o))],
    ['OnLeader', 'preemt', 'preempt', (o: object) => start(OnLeader('reports', o))],
    ['WithLease', 'waits', 'wait', (o: object) => start(WithLease('reports', o))],
    ['testLeaseholdOptions', 'guardcron', 'guardCron', (o: object) => startWith(testLeaseholdOptions(o))],
    ['LeaseholdModule', 'Prefix', 'prefix', (o: object) => startWith({ store: new MemoryLeaseStore(), ...o })],
  ] as [string, string, string, (options: object) => Promise<void>][])(
    '%s: %s, meant is %s',
    async (_taker, option, meant, use) => {
      const error = await use({ [option]: 1 }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LeaseConfigurationError)
      expect(String(error)).toContain(`has no option '${option}': did you mean '${meant}'?`)
    },
  )
})
