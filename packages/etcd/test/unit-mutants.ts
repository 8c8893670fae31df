import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'joining: writes are transactions within a transaction, whose permissions etcd does not check',
    file: 'src/client/joining.ts',
    find: '    success: requests.flatMap(({ success }) => success),\n    failure: requests.flatMap',
    replace: '    success: requests.map((requestTxn) => ({ requestTxn })),\n    failure: requests.flatMap',
    test: 'test/txn-lane.test.ts',
    name: 'go once more without those whose comparisons do not hold',
  },
  {
    title: 'joining: a write whose comparison does not hold is taken for one that another one prevented',
    file: 'src/client/joining.ts',
    find: "if (target === MOD) return (found?.modRevision ?? '0') === modRevision",
    replace: 'if (target === MOD) return true',
    test: 'test/txn-lane.test.ts',
    name: 'go once more without those whose comparisons do not hold',
  },
  {
    title: 'lane: a transaction that was given up goes once more',
    file: 'src/client/txn-lane.ts',
    find: 'left = left.filter(({ isOpen }) => isOpen)',
    replace: 'left = left.filter(({ isOpen, call: own }) => isOpen || own.aborted)',
    test: 'test/txn-lane.test.ts',
    name: 'do not go once more when they were given up meanwhile',
  },
  {
    title: 'guard: the conditions are not compared',
    file: 'src/etcd-guard.ts',
    find: 'compare: [expected, ...conditions]',
    replace: 'compare: [expected]',
    test: 'test/guard.test.ts',
    name: 'writes several keys if its conditions hold, and none if one does not',
  },
  {
    title: 'guard: conditions that do not hold leave the fence as it was',
    file: 'src/etcd-guard.ts',
    find: '        areMet = false\n',
    replace: '        return false\n',
    test: 'test/guard.test.ts',
    name: 'keeps the token of a transaction whose conditions did not hold',
  },
]
