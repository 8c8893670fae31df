import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'records: a Lease that another program took and released is free at once',
    file: 'src/record-codec.ts',
    find: 'const record = noted === undefined ? released',
    replace:
      'const record = noted?.transitions === undefined || (layout.transitionsOf(fields) ?? 0) > noted.transitions ? released',
    test: 'test/shared-lease.test.ts',
    name: 'is not free when the Go elector releases it',
  },
  {
    title: 'records: a Go elector that came too early ends the lock of the holder before it',
    file: 'src/record-codec.ts',
    find: 'metadata: {}, ...displacing(noted) } : recordFieldsOf(note)',
    replace: 'metadata: {} } : recordFieldsOf(note)',
    test: 'test/shared-lease.test.ts',
    name: 'is not taken over after the shorter duration of the Go elector',
  },
]
