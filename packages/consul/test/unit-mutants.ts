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
  {
    title: 'tokens: the next grant takes the index, although the last token is larger',
    file: 'src/standing.ts',
    find: 'return last > BigInt(entry.modifyIndex) ? last + 1n : undefined',
    replace: 'return last < 0n ? last + 1n : undefined',
    test: 'test/tokens.test.ts',
    name: 'that were raised are in the value of each grant',
  },
  {
    title: 'tokens: the next grant counts on, although the index is larger',
    file: 'src/standing.ts',
    find: 'return last > BigInt(entry.modifyIndex) ? last + 1n : undefined',
    replace: 'return last + 1n',
    test: 'test/tokens.test.ts',
    name: 'that were raised are in the value of each grant',
  },
  {
    title: 'tokens: a release does not keep the token',
    file: 'src/consul-lease-store.ts',
    find: '        token: tokenOf(entry),\n        released: true,',
    replace: '        token: BigInt(entry.modifyIndex),\n        released: true,',
    test: 'test/tokens.test.ts',
    name: 'that were raised are in the value of each grant',
  },
  {
    title: 'tokens: one that another process has raised is shown as it was',
    file: 'src/consul-lease-store.ts',
    find: 'entry.value?.token ?? tokenOf(written ?? entry)',
    replace: 'tokenOf(written ?? entry)',
    test: 'test/tokens.test.ts',
    name: 'that another process has raised are shown',
  },
  {
    title: 'tokens: one that is raised again to less becomes smaller',
    file: 'src/consul-lease-store.ts',
    find: 'token: largerOf(last, token)',
    replace: 'token',
    test: 'test/tokens.test.ts',
    name: 'that another process has raised are shown',
  },
  {
    title: 'heartbeats: a later grant with the same id is renewed',
    file: 'src/consul-lease-store.ts',
    find: 'return tokenOf(entry) > fencingToken ? GRANTED_AGAIN : undefined',
    replace: 'return undefined',
    test: 'test/laws.test.ts',
    name: 'a broken grant does not come back with a late duplicate of its claim',
  },
]
