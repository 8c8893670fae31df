import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'update: confirms a lease whose session has ended',
    file: 'src/consul-lease-store.ts',
    find: '      if (isAlive) {',
    replace: '      if (isAlive || written !== undefined) {',
    test: 'test/ended-session.test.ts',
    name: 'an update does not confirm a lease whose session has ended',
  },
  {
    title: 'guard: a missing permission is a conflict',
    file: 'src/consul-guard.ts',
    find: " || Errors.some(({ What = '' }) => isDenied(What))",
    replace: '',
    test: 'test/access.test.ts',
    name: 'a guard rejects a token that may read, but not write, the key as unauthorised',
  },
]
