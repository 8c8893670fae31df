import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule of read-write leases, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'read-write: an answer that is no record lets the writer in',
    file: 'src/slots/slot-drain.ts',
    find: "if (typeof grantId === 'string' && isLeaseState(state)) return true",
    replace: 'if (grantId !== null) return true',
    test: 'test/read-write/read-write-lease.test.ts',
    name: 'is not let in by an answer with a state that no record has',
  },
  {
    title: 'read-write: the metadata of a writer may replace the number of readers',
    file: 'src/read-write/read-write-lease.ts',
    find: 'checkForeignKeys(metadata, turnstile.details)',
    replace: '',
    test: 'test/read-write/laws.test.ts',
    name: 'the metadata of a writer is in the record while it holds the name',
  },
]
