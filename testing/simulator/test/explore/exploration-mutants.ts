import type { Edit } from '@leasehold/testing/bundle-with-edits'
import type { Bounds } from '../../src/explore/bounds.js'
import type { Rule } from '../../src/explore/broken-rule.js'

/** How a deliberate bug is found. */
export interface Hunt {
  readonly bounds: Partial<Bounds>
  readonly rule: readonly Rule[]
  /** Whether it is found only when all states are known. */
  readonly progress?: true
}

/** One client is enough for most rules: the store is in every state in which it could grant the name to another. */
const one: Partial<Bounds> = { clients: 1, ttl: 3 }
const oneObserved: Partial<Bounds> = { ...one, store: 'observed' }
const quiet: Partial<Bounds> = {
  ttl: 2,
  messages: 1,
  duplicates: false,
  failures: false,
  crashes: false,
  drift: 'none',
}
const twoObserved: Partial<Bounds> = { ...quiet, store: 'observed' }

const outlives = ['validity-outlives-grant'] as const

/** The deliberate bugs of the simulator that the exploration finds. */
export const found: Readonly<Record<string, Hunt>> = {
  'validity of a claim counts from the response': { bounds: one, rule: outlives },
  'validity of a heartbeat counts from the response': { bounds: { ...one, ttl: 4, crashes: false }, rule: outlives },
  'validity has no margin for drift': { bounds: one, rule: outlives },
  'no deadline ends validity': { bounds: one, rule: ['runaway', 'revived'] },
  'a stale response is accepted': { bounds: { ...one, lateAnswers: true, duplicates: false }, rule: outlives },
  'release deletes blindly (memory)': { bounds: one, rule: outlives },
  'release deletes blindly (compare and set)': { bounds: twoObserved, rule: outlives },
  'an expired grant is renewed back to life': { bounds: one, rule: ['revived'] },
  'tokens start again at 1 after a deletion (memory)': { bounds: { ...one, deletions: true }, rule: ['fencing-token'] },
  'a token is not larger than the last': { bounds: oneObserved, rule: ['fencing-token'] },
  'two heartbeats in flight': { bounds: one, rule: ['two-in-flight'] },
  'a loss is notified after a release was requested': { bounds: one, rule: ['callback-twice'] },
  'a lost waiter blocks the queue': {
    bounds: { ...quiet, crashes: true, queue: true },
    rule: ['no-progress'],
    progress: true,
  },
  'the store expires a grant too early': { bounds: one, rule: outlives },
  'a record that changes counts as seen unchanged': { bounds: twoObserved, rule: [...outlives, 'exclusion'] },
  'a claim that is ours already is answered without a write': { bounds: oneObserved, rule: outlives },
  'of two lost requests, validity counts from the later': { bounds: one, rule: outlives },
}

/** More deliberate bugs, in parts that no simulated schedule is needed for. */
export const further: readonly { readonly name: string; readonly edits: readonly Edit[]; readonly hunt: Hunt }[] = [
  {
    name: 'a grant that a read has shown counts from the first claim without an answer',
    edits: [
      {
        file: 'engine/from-acquiring.ts',
        find: 'state.changedAt ?? state.firstSentAt',
        replace: 'state.changedAt ?? state.uncertainSince ?? state.sentAt',
      },
    ],
    hunt: { bounds: one, rule: outlives },
  },
  {
    name: 'a loss is not reported',
    edits: [{ file: 'engine/from-held.ts', find: "effects.push({ type: 'lost', grant, lost })", replace: 'void lost' }],
    hunt: { bounds: one, rule: ['loss-not-notified'] },
  },
  {
    name: 'a refused claim is not repeated',
    edits: [
      {
        file: 'engine/from-acquiring.ts',
        find: 'isSafetyNet ? context.shared(retryAt, now) : retryAt',
        replace: 'state.woken || isSafetyNet ? retryAt : Number.POSITIVE_INFINITY',
      },
    ],
    hunt: { bounds: one, rule: ['stuck-call'] },
  },
  {
    name: 'a release that was given up is not reported',
    edits: [
      {
        file: 'engine/from-releasing.ts',
        find: "[...effects, { type: 'released', result: { ended: 'unknown', error } }]",
        replace: 'effects',
      },
    ],
    hunt: { bounds: one, rule: ['stuck-call'] },
  },
  {
    name: 'a challenger does not wait for a record to be unchanged',
    edits: [
      { file: 'cas/cas-decisions.ts', find: 'if (isLocked(standing) && !isOurs) return', replace: 'if (false) return' },
    ],
    hunt: { bounds: twoObserved, rule: [...outlives, 'exclusion'] },
  },
]
