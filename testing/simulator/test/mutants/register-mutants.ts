import type { Mutant } from './mutant.js'

const casDecisions = 'cas/cas-decisions.ts'
const casStore = 'cas/cas-store.ts'
const casRecords = 'cas/cas-records.ts'
const observations = 'cas/observations.ts'
const standings = 'cas/standings.ts'

/** Bugs of `casStore`. */
export const registerMutants: readonly Mutant[] = [
  {
    name: 'a held name is granted (compare and set)',
    edits: [{ file: casDecisions, find: 'if (isLocked(standing) && !isOurs)', replace: 'if (false)' }],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a heartbeat trusts the record that it wrote last',
    edits: [
      {
        file: casStore,
        find: 'return isFirst && written?.record.grantId === grantId ? written',
        replace: 'return isFirst && written !== undefined ? written',
      },
    ],
    caughtBy: { check: ['wrong-reason'] },
  },
  {
    name: 'a failed write of a heartbeat counts as renewed',
    edits: [
      {
        file: casStore,
        find: '=== undefined ? undefined : { renewed: true }',
        replace: '=== undefined ? { renewed: true } : { renewed: true }',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a hand-off of a lease that is not ours is carried out (compare and set)',
    edits: [
      {
        file: casStore,
        find: "if (standing.state !== 'leased' || (record.grantId !== grantId && !isRepeated)) {",
        replace: "if (standing.state !== 'leased') {",
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a hand-off keeps the token (compare and set)',
    edits: [
      {
        file: casStore,
        find: 'const fencingToken = isRepeated ? record.fencingToken : await',
        replace: 'const fencingToken = isRepeated || call.timeout > 0 ? record.fencingToken : await',
      },
    ],
    caughtBy: { check: ['fencing-token'] },
  },
  {
    name: 'a lock has no margin (compare and set)',
    edits: [{ file: casRecords, find: 'period + VALIDITY_MARGIN - seen', replace: 'period * 0.9 - seen' }],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a broken lease is free at once (compare and set)',
    edits: [{ file: casRecords, find: 'const own = isVacated ? 0', replace: 'const own = isVacated || broken ? 0' }],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a break never ends (compare and set)',
    edits: [
      {
        file: casRecords,
        find: 'capped(record.breakPeriod ?? record.ttl, longest, broken ? 0 : Number.MIN_VALUE)',
        replace:
          'capped(record.breakPeriod === undefined ? record.ttl : Number.NaN, longest, broken ? 0 : Number.MIN_VALUE)',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'the time of an absence counts as seen unchanged',
    edits: [
      {
        file: observations,
        find: 'since: isSame ? Math.min(seen.since, since) : since',
        replace: 'since: isSame ? Math.min(seen.since, since) : (seen?.since ?? since)',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a record counts as unchanged since the last look',
    edits: [
      {
        file: observations,
        find: 'const since = Math.max(now - age, after)',
        replace: 'const since = seen?.seenAt ?? now',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a record is never seen unchanged',
    edits: [{ file: observations, find: 'isSame ? Math.min(seen.since, since) : since', replace: 'since' }],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'a record counts as seen for longer than it was',
    edits: [
      { file: standings, find: 'const unchanged = this.#records', replace: 'const unchanged = 1.2 * this.#records' },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
]
