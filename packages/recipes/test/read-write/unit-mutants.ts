import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule of read-write leases, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'read-write: the metadata of a writer may replace the number of readers',
    file: 'src/read-write/read-write-lease.ts',
    find: 'checkForeignKeys(metadata, turnstile.details)',
    replace: '',
    test: 'test/read-write/laws.test.ts',
    name: 'the metadata of a writer is in the record while it holds the name',
  },
]
