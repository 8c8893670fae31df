import type { Mutant } from './mutant.js'

const guide = 'engine/objective-guide.ts'

/** Bugs in leases whose durations an objective changes. */
export const objectiveMutants: readonly Mutant[] = [
  {
    name: 'the validity of a grant in force counts by the ttl that was chosen since',
    edits: [
      {
        file: guide,
        find: '      heartbeatTimeout: ttl,\n',
        replace: '      heartbeatTimeout: advice.heartbeatTimeout,\n',
      },
      {
        file: 'engine/from-held.ts',
        find: 'validityOf(Math.min(rules.ttl, grant.ttl))',
        replace: 'validityOf(rules.ttl)',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'objectives' },
  },
  {
    name: 'a claim asks for a shorter ttl than its validity counts by',
    edits: [
      {
        file: guide,
        find: '    lease.rules = this.rulesAt(now)\n',
        replace:
          '    lease.rules = this.rulesAt(now)\n    queueMicrotask(() => void (lease.rules = rulesOf(this.#settings, this.#traits)))\n',
      },
      {
        file: 'engine/from-held.ts',
        find: 'validityOf(Math.min(rules.ttl, grant.ttl))',
        replace: 'validityOf(rules.ttl)',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'objectives' },
  },
]
