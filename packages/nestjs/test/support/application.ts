import { MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import type { INestApplicationContext, ModuleMetadata, Type } from '@nestjs/common'
import { ScheduleModule } from '@nestjs/schedule'
import { Test } from '@nestjs/testing'
import { onTestFinished } from 'vitest'
import { Leases } from '../../src/index.js'
import { LeaseholdTestingModule, type TestLeasesOptions } from '../../src/testing.js'

export const MINUTE = 60_000

/** The instances of one application, with one store and one time. */
export class Fleet {
  readonly time = new VirtualTime()
  readonly clock = new VirtualClock({ time: this.time })
  readonly store = new MemoryLeaseStore({ clock: this.clock })

  /** Starts an instance whose wall clock is ahead by `skew` milliseconds. It ends with the test. */
  async start(
    providers: ModuleMetadata['providers'],
    { skew = 0, imports = [], ...options }: TestLeasesOptions & Instance = {},
  ): Promise<INestApplicationContext & { readonly leases: Leases }> {
    const clock = new VirtualClock({ time: this.time, skew })
    const module = await Test.createTestingModule({
      imports: [
        LeaseholdTestingModule.forRoot({ logger: silent, store: this.store, closeStore: false, ...options, clock }),
        ...imports,
      ],
      providers: providers ?? [],
    }).compile()
    module.useLogger(false)
    onTestFinished(() => module.close())
    await module.init()
    return Object.assign(module, { leases: module.get(Leases) })
  }

  /** The error of a start that fails. */
  async faultOf(providers: readonly Type[], options: TestLeasesOptions & Instance = {}): Promise<unknown> {
    try {
      await this.start([...providers], options)
    } catch (error) {
      return error
    }
    throw new Error('the application has started')
  }
}

interface Instance {
  readonly skew?: number
  readonly imports?: ModuleMetadata['imports']
}

export const withCron: Instance & TestLeasesOptions = { guardCron: true, imports: [ScheduleModule.forRoot()] }

/** Logs nothing: for Nest and for leases. */
export const silent = { log() {}, debug() {}, info() {}, warn() {}, error() {} }
