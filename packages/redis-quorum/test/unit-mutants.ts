import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'a server is repaired from fewer than a majority of records',
    file: 'src/heartbeats.ts',
    find: 'if (records.length < majority) return',
    replace: 'if (records.length < 1) return',
    test: 'test/repairs.test.ts',
    name: 'waits until a majority can be read',
  },
]
