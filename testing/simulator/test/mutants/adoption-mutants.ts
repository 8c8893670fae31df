import type { Mutant } from './mutant.js'

const neverSeen =
  'change: an adopter whose longer ttl the store never saw ends before another owner is granted the name'

/** Bugs in the adoption of a lease by an owner with another ttl. */
export const adoptionMutants: readonly Mutant[] = [
  {
    name: 'an adopter is valid for its own ttl before the store has it',
    edits: [
      {
        file: 'engine/from-held.ts',
        find: 'validityOf(Math.min(rules.ttl, grant.ttl))',
        replace: 'validityOf(rules.ttl)',
      },
    ],
    caughtBy: { law: neverSeen },
  },
  {
    name: 'the validity of an adopter counts from its claim for its own ttl, though the store never had it',
    edits: [
      {
        file: 'engine/from-acquiring.ts',
        find: 'state.changedAt ?? state.firstSentAt',
        replace: 'state.uncertainSince ?? state.sentAt',
      },
    ],
    caughtBy: { law: neverSeen },
  },
  {
    name: 'an adopter never sets its own ttl',
    edits: [
      { file: 'engine/from-acquiring.ts', find: 'event.outcome.grant.ttl !== context.rules.ttl', replace: 'false' },
    ],
    caughtBy: { law: 'change: an adopted lease has the ttl of its adopter, longer or shorter than before' },
  },
]
