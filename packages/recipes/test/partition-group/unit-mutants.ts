import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'partitions: work starts on a partition that was given up',
    file: 'src/partition-group/assignment.ts',
    find: 'if (this.#claiming.aborted) this.giveUp()\n    else await this.#work()',
    replace: 'await this.#work()',
    test: 'test/partition-group/assignment.test.ts',
    name: 'ends when it is given up, at whatever moment of the grant',
  },
  {
    title: 'partitions: a partition that this worker holds counts for another one',
    file: 'src/partition-group/balance.ts',
    find: 'const ownHeld = self.share.held.filter(take)',
    replace: 'const ownHeld = self.share.held',
    test: 'test/partition-group/balance.test.ts',
    name: 'counts what it holds as its own',
  },
  {
    title: 'partitions: a free partition goes to a worker that does not know it',
    file: 'src/partition-group/balance.ts',
    find: 'plan.filter(({ partitions }) => partitions >= number)',
    replace: 'plan',
    test: 'test/partition-group/partition-group.test.ts',
    name: 'has an owner for each partition that a running worker knows: more partitions',
  },
  {
    title: 'partitions: the record of a worker does not show how many it knows',
    file: 'src/partition-group/membership.ts',
    find: '{ partitions: String(partitions), share: ',
    replace: '{ share: ',
    test: 'test/partition-group/partition-group.test.ts',
    name: 'has an owner for each partition that a running worker knows: fewer partitions',
  },
]
