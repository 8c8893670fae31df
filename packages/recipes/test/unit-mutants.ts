import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'recipes: the record of another recipe is accepted',
    file: 'src/record-kind.ts',
    find: 'if (found === undefined || found === recipe) return',
    replace: 'return',
    test: 'test/record-kind.test.ts',
    name: 'keeps once from a record of lease-manager',
  },
  {
    title: 'recipes: the metadata of another recipe are not put back',
    file: 'src/record-kind.ts',
    find: 'await lease.release(previous === undefined ? {} : { metadata: previous })',
    replace: 'await lease.release()',
    test: 'test/record-kind.test.ts',
    name: 'keeps leader-election from a record of once',
  },
  {
    title: 'election: the metadata of another recipe are replaced again and again',
    file: 'src/leader-election/leader-election.ts',
    find: 'if (this.#isOfOther) await this.leader()',
    replace: '',
    test: 'test/record-kind.test.ts',
    name: 'keeps an election from the grants of a name',
  },
  {
    title: 'once: forget() removes the mark of another recipe',
    file: 'src/once.ts',
    find: "checkRecipe('once', lease.previous, this.#detailsOf(key))",
    replace: '',
    test: 'test/record-kind.test.ts',
    name: 'keeps the other methods of Once',
  },
  {
    title: 'schedule: the record of another recipe is accepted',
    file: 'src/schedule/schedule-record.ts',
    find: "checkRecipe('schedule', metadata, details)",
    replace: '',
    test: 'test/record-kind.test.ts',
    name: 'keeps schedule from a record of once',
  },
  {
    title: 'self-fence: an election says nothing of the work that a loss leaves behind',
    file: 'src/leader-election/leader-election.ts',
    find: 'return leading',
    replace: '',
    test: 'test/self-fence.test.ts',
    name: 'waits for the work of LeaderElection',
  },
  {
    title: 'self-fence: a group says nothing of the work that a loss leaves behind',
    file: 'src/partition-group/assignment.ts',
    find: 'this.#worked = working',
    replace: '',
    test: 'test/self-fence.test.ts',
    name: 'waits for the work of PartitionGroup',
  },
  {
    title: 'self-fence: only the first part of AllOf waits for the work',
    file: 'src/all-of/joint-grant.ts',
    find: 'if (this.loss !== undefined) return this.#ending',
    replace: 'if (this.loss !== undefined) return undefined',
    test: 'test/self-fence.test.ts',
    name: 'of each part of AllOf waits for the work',
  },
]
