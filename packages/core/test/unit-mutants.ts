import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'system clock: a cancelled task runs',
    file: 'src/system-clock.ts',
    find: 'clearImmediate(turn)',
    replace: 'void turn',
    test: 'test/system-clock.test.ts',
    name: 'does not run once it is cancelled',
  },
]
