import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'a grant whose owner was replaced is over with the record that replaced it',
    file: 'src/cas/cas-records.ts',
    find: 'const remaining = Math.max(own, others)',
    replace: 'const remaining = isVacated ? others : own',
    test: 'test/cas/cas-records.test.ts',
    name: 'leased until both it and the grant that another program replaced have been over',
  },
  {
    title: 'the next grant takes the version as its token, although the last token is larger',
    file: 'src/cas/next-token.ts',
    find: 'record.fencingToken > register.tokenOf(version) ? record.fencingToken + 1n : 0n',
    replace: 'record.fencingToken > register.tokenOf(version) ? 0n : 0n',
    test: 'test/cas/version-tokens.test.ts',
    name: 'that were raised above the versions count on',
  },
  {
    title: 'the next grant counts on, although the version is larger',
    file: 'src/cas/next-token.ts',
    find: 'record.fencingToken > register.tokenOf(version) ? record.fencingToken + 1n : 0n',
    replace: 'record.fencingToken > 0n ? record.fencingToken + 1n : 0n',
    test: 'test/cas/version-tokens.test.ts',
    name: 'that were raised above the versions count on',
  },
  {
    title: 'the time without a holder goes on though the holder came back and renewed meanwhile',
    file: 'src/cas/standings.ts',
    find: '`${displaced.grantId} ${displaced.renewals}`',
    replace: 'displaced.grantId',
    test: 'test/cas/version-tokens.test.ts',
    name: 'was restored, has renewed its grant and was removed again',
  },
  {
    title: 'the time without a holder goes on though the holder was seen again meanwhile',
    file: 'src/cas/standings.ts',
    find: 'this.#displaced.forget(name)\n    return 0',
    replace: 'return 0',
    test: 'test/cas/version-tokens.test.ts',
    name: 'the owner was restored and removed again',
  },
]
