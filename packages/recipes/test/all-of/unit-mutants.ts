import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'AllOf: a part with an unknown outcome is not released',
    file: 'src/all-of/joint-grant.ts',
    find: 'if (!wasHeld) this.#taken.push(taken)',
    replace: '',
    test: 'test/all-of/all-of.test.ts',
    name: 'releases a part whose outcome is unknown',
  },
  {
    title: 'AllOf: a part is kept although it was lost and granted anew',
    file: 'src/all-of/joint-grant.ts',
    find: 'const isKept = wasHeld && part.fencingToken === token',
    replace: 'const isKept = wasHeld',
    test: 'test/all-of/all-of.test.ts',
    name: 'releases a part that was held before, was lost meanwhile and was granted anew',
  },
  {
    title: 'AllOf: the release of a part by itself is not noticed',
    file: 'src/all-of/joint-grant.ts',
    find: 'if (isStoreLease(part)) part.once(',
    replace: 'if (part === undefined) part.once(',
    test: 'test/all-of/all-of.test.ts',
    name: 'is notified when a part is released by itself, also one of another copy of core',
  },
  {
    title: 'AllOf: an invalid part is not noticed at the grant',
    file: 'src/all-of/all-of.ts',
    find: 'if (isHeld) grant.loseInvalid()',
    replace: '',
    test: 'test/all-of/all-of.test.ts',
    name: 'does not resolve with true where the validity of a part has ended unnoticed',
  },
  {
    title: 'AllOf: a part that is made of several leases has one place in the order',
    file: 'src/all-of/all-of.ts',
    find: 'lease instanceof AllOf ? lease.leases : [lease]',
    replace: '[lease]',
    test: 'test/all-of/all-of.test.ts',
    name: 'waits for nobody in a circle',
  },
  {
    title: 'AllOf: two leases on one name of a store are accepted',
    file: 'src/all-of/all-of.ts',
    find: 'return one === other || (store !== undefined',
    replace: 'return one === other || (store === null',
    test: 'test/all-of/all-of.test.ts',
    name: 'refuses one lease twice, also in a part of several',
  },
]
