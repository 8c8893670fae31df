import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'the guard locks nothing',
    file: 'src/sql/guard.ts',
    find: ' lock in share mode`',
    replace: '`',
    test: 'test/guard.test.ts',
    name: 'mariadb: the guard of a transaction keeps the name from others until it ends, also after an expiry, and refuses them at once, under repeatable read',
  },
  {
    title: 'the guard locks the row, so that heartbeats wait',
    file: 'src/sql/guard.ts',
    find: 'force index (lease_grant) on',
    replace: 'force index (primary) on',
    test: 'test/guard.test.ts',
    name: 'mariadb: the guard of a transaction does not hold up heartbeats, under read committed',
  },
  {
    title: 'the guard passes for an expired lease',
    file: 'src/sql/guard.ts',
    find: ' and s.${HELD}',
    replace: '',
    test: 'test/guard.test.ts',
    name: 'mariadb: the guard of a transaction rejects a lease that has expired, was released, broken or taken, and every other token',
  },
  {
    title: 'a lease is granted that has been granted or renewed since the look',
    file: 'src/sql/operations.ts',
    find: '`version = ${version} and locked_until <= ${NOW}`',
    replace: "'true'",
    test: 'test/failures.test.ts',
    name: 'mariadb: a store of many claims at the same time, one is granted, again and again',
  },
  {
    title: 'tokens do not grow over a deletion',
    file: 'src/sql/operations.ts',
    find: 'last_insert_id(${NOW}), ${ttl',
    replace: 'last_insert_id(1), ${ttl',
    test: 'test/failures.test.ts',
    name: 'mariadb: a store fencing tokens grow after the row was deleted, and when the clock was behind the last token',
  },
  {
    title: 'a replica answers from the past',
    file: 'src/mysql-lease-store.ts',
    find: 'if (!look.isReadOnly) return look',
    replace: 'return look',
    test: 'test/faults.test.ts',
    name: 'that is a replica: refuses every operation, never answers from the past, and serves as the primary later',
  },
]
