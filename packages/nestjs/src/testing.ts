// For tests of applications: leases in memory, and time that passes when a test says so.

import { type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { type DynamicModule, Module } from '@nestjs/common'
import { LeaseholdModule } from './leasehold-module.js'
import type { LeaseholdModuleOptions } from './leasehold-options.js'

/** The options of `LeaseholdModule`, with a clock that a test moves. */
export interface TestLeasesOptions extends Omit<LeaseholdModuleOptions, 'store' | 'clock' | 'now'> {
  /** The clock of the leases and the schedules; a new one unless given. Two instances of an application share one. */
  readonly clock?: VirtualClock | undefined
  /** A store in memory unless given. Two instances of an application share one. */
  readonly store?: LeaseStore | undefined
}

/**
 * The options of `LeaseholdModule` for a test. Give them to `overrideProvider(LEASEHOLD_OPTIONS).useValue(…)` in the test of an
 * application that imports `LeaseholdModule` itself.
 */
export function testLeaseholdOptions({
  clock = new VirtualClock(),
  store = new MemoryLeaseStore({ clock }),
  ...options
}: TestLeasesOptions = {}): LeaseholdModuleOptions {
  return { ...options, store, clock, now: () => new Date(clock.wall()) }
}

class TestLeasesModule {}
Module({})(TestLeasesModule)

/** In the place of `LeaseholdModule` in a test. `moduleRef.get(VirtualClock)` is its clock. */
export const LeaseholdTestingModule = {
  forRoot(options: TestLeasesOptions = {}): DynamicModule {
    const clock = options.clock ?? new VirtualClock()
    return {
      module: TestLeasesModule,
      imports: [LeaseholdModule.forRoot(testLeaseholdOptions({ ...options, clock }))],
      providers: [{ provide: VirtualClock, useValue: clock }],
      exports: [VirtualClock, LeaseholdModule],
    }
  },
} as const
