import type { Mutant } from './mutant.js'

/** The time of a grant, the count of its renewals and that of the waiters, wrong. */
export const historyMutants: readonly Mutant[] = [
  {
    name: 'a renewal is not counted',
    edits: [
      {
        file: 'life-cycle/life-cycle.ts',
        find: 'lease.renewals === undefined ? undefined : lease.renewals + 1',
        replace: 'lease.renewals',
      },
    ],
    caughtBy: { law: 'history: renewals are counted from 0, and the next grant begins with 0' },
  },
  {
    name: 'the next grant keeps the count of renewals (compare and set)',
    edits: [
      {
        file: 'cas/cas-decisions.ts',
        find: 'renewals: 0 } }',
        replace: 'renewals: record.renewals ? undefined : 0 } }',
      },
    ],
    caughtBy: { law: 'history: renewals are counted from 0, and the next grant begins with 0' },
  },
  {
    name: 'the next grant keeps the time of the last one',
    edits: [
      {
        file: 'life-cycle/life-cycle.ts',
        find: 'grantedAt: this.#rules.wall?.(), renewals: 0',
        replace: 'grantedAt: lease?.grantedAt ?? this.#rules.wall?.(), renewals: 0',
      },
    ],
    caughtBy: {
      law: 'history: the time of a grant stays the same when it is renewed, and the next grant has a later one',
    },
  },
  {
    name: 'a waiter whose place ended is counted',
    edits: [
      {
        file: 'life-cycle/life-cycle.ts',
        find: 'if (this.#isWaiting(place, now)) waiters += 1',
        replace: 'if (place.keptUntil > 0) waiters += 1',
      },
    ],
    caughtBy: { law: 'waiting: a waiter that has not repeated its request for a ttl is not counted' },
  },
]
