import type { Mutant } from './mutant.js'

const lifeCycle = 'life-cycle/life-cycle.ts'
const storedLease = 'life-cycle/stored-lease.ts'
const memoryLeaseStore = 'memory/memory-lease-store.ts'

/** Bugs of a store that times its leases itself. */
export const lifeCycleMutants: readonly Mutant[] = [
  {
    name: 'a held name is granted (memory)',
    edits: [
      {
        file: lifeCycle,
        find: 'if (lease !== undefined && isLockedAt(lease, now)) {',
        replace: 'if (lease !== undefined && isLockedAt(lease, now) && lease.renewals === 0) {',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a renewal does not move the end of the lock (memory)',
    edits: [
      {
        file: lifeCycle,
        find: 'const lockedUntil = this.#lockEnd(lease.ttl, now)\n    const renewals',
        replace: 'const lockedUntil = lease.lockedUntil\n    const renewals',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a hand-off of a lease that is not ours is carried out (memory)',
    edits: [
      {
        file: lifeCycle,
        find: 'if (!isLeased || (lease.grantId !== grantId && lease.grantId !== to.grantId)) {',
        replace: 'if (!isLeased) {',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a hand-off keeps the token (memory)',
    edits: [
      {
        file: lifeCycle,
        find: 'this.#rules.tokenAfter(lease?.fencingToken)',
        replace:
          "(lease?.state === 'leased' && isLockedAt(lease, now) ? lease.fencingToken : this.#rules.tokenAfter(lease?.fencingToken))",
      },
    ],
    caughtBy: { check: ['fencing-token'] },
  },
  {
    name: 'a repeated claim gets another token (memory)',
    edits: [
      {
        file: lifeCycle,
        find: 'const isRepeated = lease !== undefined &&',
        replace: 'const isRepeated = lease !== undefined && lease.ttl < 0 &&',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a break locks an expired name (memory)',
    edits: [
      {
        file: lifeCycle,
        find: 'Math.min(period, Math.max(lease.lockedUntil - now, 0))',
        replace: 'Math.min(period, lease.ttl * 100)',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'a break locks for ever (memory)',
    edits: [
      {
        file: lifeCycle,
        find: "state: 'breaking', lockedUntil: now + remaining }",
        replace: "state: 'breaking', lockedUntil: Number.POSITIVE_INFINITY }",
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'places of waiters that are gone stay',
    edits: [
      { file: lifeCycle, find: '      stale.push(place.grantId)', replace: '      return { stale, first: place }' },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'the name is locked for longer than the grant',
    edits: [{ file: storedLease, find: '  return now < lockedUntil\n', replace: '  return now < lockedUntil + 1e6\n' }],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'a name deleted meanwhile starts at a smaller token',
    edits: [
      {
        file: memoryLeaseStore,
        find: 'if (lease.fencingToken > this.#deletedToken) this.#deletedToken = lease.fencingToken',
        replace: '',
      },
    ],
    caughtBy: { check: ['fencing-token'] },
  },
]
