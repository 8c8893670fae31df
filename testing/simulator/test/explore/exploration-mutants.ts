import type { Edit } from '@leasehold/testing/bundle-with-edits'
import type { Bounds } from '../../src/explore/bounds.js'
import type { Rule } from '../../src/explore/broken-rule.js'

/** How a deliberate bug is found. */
export interface Hunt {
  readonly bounds: Partial<Bounds>
  readonly rule: readonly Rule[]
  /** The number of steps of the shortest schedule. */
  readonly steps: number
  /** The number of events in the schedule that the simulator finds with its first failing seed, and makes smaller. */
  readonly simulated?: number
}

/** One client is enough for most rules: the store is in every state in which it could grant the name to another. */
const one: Partial<Bounds> = { clients: 1, ttl: 3, exact: true }
const oneObserved: Partial<Bounds> = { ...one, store: 'observed' }
const quiet: Partial<Bounds> = {
  exact: true,
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
  'validity of a claim counts from the response': { bounds: one, rule: outlives, steps: 6 },
  'validity of a heartbeat counts from the response': {
    bounds: { ...one, ttl: 4, crashes: false },
    rule: outlives,
    steps: 11,
    simulated: 125,
  },
  'validity has no margin for drift': { bounds: one, rule: outlives, steps: 6, simulated: 179 },
  'no deadline ends validity': { bounds: one, rule: ['runaway', 'revived'], steps: 8, simulated: 72 },
  'a stale response is accepted': {
    bounds: { ...one, lateAnswers: true, duplicates: false },
    rule: [...outlives, 'two-in-flight'],
    steps: 8,
    simulated: 93,
  },
  'release deletes blindly (memory)': { bounds: one, rule: outlives, steps: 10, simulated: 273 },
  'release deletes blindly (compare and set)': { bounds: twoObserved, rule: outlives, steps: 22, simulated: 156 },
  'an expired grant is renewed back to life': { bounds: one, rule: ['revived'], steps: 8 },
  'tokens start again at 1 after a deletion (memory)': {
    bounds: { ...one, deletions: true },
    rule: ['fencing-token'],
    steps: 7,
    simulated: 150,
  },
  'a token is not larger than the last': { bounds: oneObserved, rule: ['fencing-token'], steps: 4, simulated: 22 },
  'two heartbeats in flight': {
    bounds: { ...one, ttl: 4, crashes: false },
    rule: ['two-in-flight'],
    steps: 7,
    simulated: 73,
  },
  'a loss is notified after a release was requested': {
    bounds: one,
    rule: ['callback-twice'],
    steps: 6,
    simulated: 340,
  },
  'the store expires a grant too early': { bounds: one, rule: outlives, steps: 5, simulated: 72 },
  'a record that changes counts as seen unchanged': {
    bounds: twoObserved,
    rule: [...outlives, 'exclusion'],
    steps: 16,
    simulated: 60,
  },
  'a claim that is ours already is answered without a write': {
    bounds: oneObserved,
    rule: outlives,
    steps: 11,
    simulated: 55,
  },
  'of two lost requests, validity counts from the later': { bounds: one, rule: outlives, steps: 10 },
}

/** The sources in which bugs are within the reach of the exploration: the transition function and the decisions of stores. */
export const explored: readonly RegExp[] = [
  /^engine\/(transition|from-\w+|engine-state|pauses)\.ts$/,
  /^life-cycle\/(life-cycle|stored-lease|wait-queue)\.ts$/,
  /^cas\/(cas-decisions|cas-records|observations|next-token)\.ts$/,
  /^memory\/memory-lease-store\.ts$/,
  /^time\/validity\.ts$/,
]

const metadata = 'there is no metadata in an exploration'
const history = 'what a record says of its past is not explored'
const handOff = 'hand-offs are not explored'
const breaks = 'breaks are not explored'
const pace = 'no timer of an exploration has to run in time, and a loss without need breaks no rule of it'
const forgets = 'the register of an exploration loses no entry'

/** The deliberate bugs of the simulator in these sources that the exploration does not find, and why. */
export const outOfReach: Readonly<Record<string, string>> = {
  'tokens start again at 1 after a deletion (compare and set)': forgets,
  "the store's time is not in the next token (compare and set)": forgets,
  'a lost waiter blocks the queue': 'the states leave out places that have ended, for without that they have no bound',
  'a lost response is treated as not granted, and left in the store':
    'an exploration that cleans up does so at any time or never, so that never to clean up is no bug',
  'a heartbeat has no time limit of its own': pace,
  'one failed heartbeat drops the lease': pace,
  'a definitive refusal of a heartbeat is retried': breaks,
  'a renewal of an unknown grant makes it the holder': 'its holder is not valid any more when it gets such an answer',
  'an update of an earlier grant with the same grant id is accepted': metadata,
  'maxHold is not looked at': 'no lease of an exploration has a maxHold',
  'an adopter is valid for its own ttl before the store has it': handOff,
  'the validity of an adopter counts from its claim for its own ttl, though the store never had it': handOff,
  'an adopter never sets its own ttl': handOff,
  'a renewal is not counted': history,
  'the next grant keeps the count of renewals (compare and set)': history,
  'the next grant keeps the time of the last one': history,
  'a waiter whose place ended is counted': history,
  'a repeated request finds its own metadata (compare and set)': metadata,
  'a request without metadata clears the metadata': metadata,
  'a request without metadata clears the metadata (compare and set)': metadata,
  'an update under an old grant is written': metadata,
  'a store breaks the grant of a successor': breaks,
  'a lease with the manual strategy sends heartbeats': 'no lease of an exploration has this strategy',
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
    hunt: { bounds: one, rule: outlives, steps: 17 },
  },
  {
    name: 'a loss is not reported',
    edits: [{ file: 'engine/from-held.ts', find: "effects.push({ type: 'lost', grant, lost })", replace: 'void lost' }],
    hunt: { bounds: one, rule: ['loss-not-notified'], steps: 6 },
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
    hunt: { bounds: one, rule: ['stuck-call'], steps: 6 },
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
    hunt: { bounds: one, rule: ['stuck-call'], steps: 6 },
  },
  {
    name: 'a challenger does not wait for a record to be unchanged',
    edits: [
      { file: 'cas/cas-decisions.ts', find: 'if (isLocked(standing) && !isOurs) return', replace: 'if (false) return' },
    ],
    hunt: { bounds: twoObserved, rule: [...outlives, 'exclusion'], steps: 9 },
  },
]
