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
  'an attempt that is given up leaves its call running': { bounds: one, rule: ['two-in-flight'], steps: 2 },
  'a stale answer to a claim is taken for the answer to the next': {
    bounds: { ...one, lateAnswers: true, duplicates: false },
    rule: ['two-in-flight'],
    steps: 4,
  },
  'any record that is read back is our grant': { bounds: one, rule: outlives, steps: 10 },
  'a grant whose answer came too late is held': { bounds: one, rule: ['granted-but-not-held'], steps: 5 },
  'a claim has no time limit': { bounds: one, rule: ['runaway'], steps: 3 },
  'a claim that ran into its time limit is not ended': { bounds: one, rule: ['two-in-flight'], steps: 3 },
  'the time limit of a heartbeat has no timer': { bounds: one, rule: ['runaway'], steps: 6 },
  'a waiting claim has no timer': { bounds: one, rule: ['stuck-call'], steps: 3 },
  'a loss does not end the heartbeat under way': { bounds: one, rule: ['two-in-flight'], steps: 7 },
  'a release does not end the heartbeat under way': { bounds: one, rule: ['two-in-flight'], steps: 6 },
  'a held name is granted (memory)': { bounds: one, rule: outlives, steps: 6 },
  'a renewal does not move the end of the lock (memory)': { bounds: one, rule: outlives, steps: 9 },
  'the name is locked for longer than the grant': { bounds: one, rule: ['fencing-token'], steps: 6 },
  'a held name is granted (compare and set)': { bounds: twoObserved, rule: outlives, steps: 9 },
  'the time of an absence counts as seen unchanged': { bounds: twoObserved, rule: outlives, steps: 16 },
  'a release has no time limit': { bounds: one, rule: ['stuck-call'], steps: 4 },
  'a release that is given up does not end its call': { bounds: one, rule: ['two-in-flight'], steps: 6 },
  'a stale answer ends a release': {
    bounds: { ...one, lateAnswers: true, duplicates: false },
    rule: ['two-in-flight'],
    steps: 7,
  },
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
const places = 'the states leave out places that have ended, for without that they have no bound'
const often = 'no rule of an exploration says how often a store is asked'
const again = 'each run of its timer counts a failure more, and the exploration only sees a timer that does nothing'
const forgets = 'the register of an exploration loses no entry'

/** The deliberate bugs of the simulator in these sources that the exploration does not find, and why. */
export const outOfReach: Readonly<Record<string, string>> = {
  'tokens start again at 1 after a deletion (compare and set)': forgets,
  "the store's time is not in the next token (compare and set)": forgets,
  'a lost waiter blocks the queue': places,
  'places of waiters that are gone stay': places,
  'a waiter that gives up keeps its place in the queue': places,
  'a claim is repeated although its call is under way': 'the store of an exploration gives no signal of a turn',
  'a failed claim is asked for again at once': often,
  'a waiter asks a failed store without a pause': often,
  'a failed heartbeat is repeated without a pause': often,
  'a failed heartbeat is repeated at once': often,
  'a failed release is repeated at once': often,
  'a failed claim does not end its call': again,
  'a failed heartbeat does not end its call': again,
  'a waiter does not ask at the expiry': pace,
  'a timer for the end of the validity is not set': pace,
  'renew by hand sends a second heartbeat': 'nobody renews by hand in an exploration',
  'the loss of a suspended holder is called expired': 'no machine of an exploration is suspended',
  'a hand-off of a lease that is not ours is carried out (memory)': handOff,
  'a hand-off keeps the token (memory)': handOff,
  'a repeated claim gets another token (memory)':
    'an exploration knows a grant by its id, whatever token an answer bears',
  'a break locks an expired name (memory)': breaks,
  'a break locks for ever (memory)': breaks,
  'a broken lease is free at once (compare and set)': breaks,
  'a break never ends (compare and set)': breaks,
  'a lock has no margin (compare and set)':
    'the time of an exploration passes in units, and the margin is a part of one',
  'a record counts as unchanged since the last look': 'the model does not keep when a client looked last',
  'a record is never seen unchanged': 'that nobody is ever granted the name again is found with --progress only',
  'a name deleted meanwhile starts at a smaller token': 'the model of an exploration deletes the record by itself',
  'a lost response is treated as not granted, and left in the store':
    'an exploration that cleans up does so at any time or never, so that never to clean up is no bug',
  'a heartbeat has no time limit of its own': pace,
  'one failed heartbeat drops the lease': pace,
  'a definitive refusal of a heartbeat is retried': breaks,
  'a renewal of an unknown grant makes it the holder': 'its holder is not valid any more when it gets such an answer',
  'a heartbeat of an earlier grant with the same grant id is accepted':
    'a holder whose grant was not broken has stopped by then',
  'a heartbeat of an earlier grant with the same grant id is accepted (compare and set)':
    'a holder whose grant was not broken has stopped by then',
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
        find: ", { type: 'released', result: { ended: 'unknown', error } }]",
        replace: ']',
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
