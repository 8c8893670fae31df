import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'election: each failure of a long outage is logged',
    file: 'src/store-outage.ts',
    find: 'if (this.#outage.isDue(this.#clock.now())) {',
    replace: '{',
    test: 'test/leader-election/unreachable.test.ts',
    name: 'says so once if it refuses the password',
  },
  {
    title: 'election: it is healthy during an outage',
    file: 'src/leader-election/leader-election.ts',
    find: 'this.outage.duration <= ',
    replace: '0 <= ',
    test: 'test/leader-election/unreachable.test.ts',
    name: 'is not healthy once that has lasted',
  },
  {
    title: 'election: a term begins after stop()',
    file: 'src/leader-election/leader-election.ts',
    find: '!lease.checkLease() || this.stopping.aborted) return 0',
    replace: '!lease.checkLease()) return 0',
    test: 'test/leader-election/stop.test.ts',
    name: 'begins no term after stop(), at whatever moment of the grant',
  },
  {
    title: 'election: a candidate is still shown after a short term',
    file: 'src/leader-election/leader-election.ts',
    find: 'void this.#candidacy?.withdraw()',
    replace: '',
    test: 'test/leader-election/transfer.test.ts',
    name: 'that were elected are none before their term has ended, however short it was',
  },
  {
    title: 'election: each candidate leaves a record of its own behind',
    file: 'src/places.ts',
    find: 'if (isFree && !isOther) free.push(place)',
    replace: '',
    test: 'test/leader-election/transfer.test.ts',
    name: 'leave no record behind: the next candidate takes the place of one that has gone',
  },
  {
    title: 'election: a term begins under a lease that has expired unnoticed',
    file: 'src/leader-election/leader-election.ts',
    find: 'if (fencingToken === undefined || !lease.checkLease() ||',
    replace: 'if (fencingToken === undefined ||',
    test: 'test/leader-election/leader-election.test.ts',
    name: 'does not begin if its lease has expired unnoticed, while the process stood still',
  },
]
