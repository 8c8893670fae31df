import type { Mutant } from './mutant.js'

const fromAcquiring = 'engine/from-acquiring.ts'
const pauses = 'engine/pauses.ts'

/** Bugs of a claim that is under way, or waits for its turn. */
export const claimMutants: readonly Mutant[] = [
  {
    name: 'an attempt that is given up leaves its call running',
    edits: [
      { file: fromAcquiring, find: "if (state.call !== undefined) effects.push({ type: 'abort' })", replace: '' },
    ],
    caughtBy: { check: ['leaked-request'] },
  },
  {
    name: 'a waiter that gives up keeps its place in the queue',
    edits: [
      {
        file: fromAcquiring,
        find: "if (state.queue) effects.push({ type: 'withdraw', grantId: state.grantId })",
        replace: '',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'a stale answer to a claim is taken for the answer to the next',
    edits: [
      {
        file: fromAcquiring,
        find: "if ('op' in event && !awaits(state, event.op)) return quiet(state)\n",
        replace: '\n',
      },
    ],
    caughtBy: { check: ['validity-outlives-grant'] },
  },
  {
    name: 'a claim is repeated although its call is under way',
    edits: [
      {
        file: fromAcquiring,
        find: 'if (state.call !== undefined) return quiet(isHeld ? state : { ...state, woken: true })',
        replace: '',
      },
    ],
    caughtBy: { check: ['leaked-request'] },
  },
  {
    name: 'a failed claim is asked for again at once',
    edits: [
      {
        file: fromAcquiring,
        find: 'retryAt: now + outagePause(rules, failures, random, askedPause(failure))',
        replace: 'retryAt: now',
      },
    ],
    caughtBy: { check: ['runaway'] },
  },
  {
    name: 'a failed claim does not end its call',
    edits: [
      {
        file: fromAcquiring,
        find: '      ...state,\n      call: undefined,\n      retryAt: now + outagePause',
        replace: '      ...state,\n      retryAt: now + outagePause',
      },
    ],
    caughtBy: { check: ['runaway'] },
  },
  {
    name: 'any record that is read back is our grant',
    edits: [
      {
        file: fromAcquiring,
        find: "if (record?.grantId === state.grantId && record.state === 'leased')",
        replace: "if (record !== undefined && record.state === 'leased')",
      },
    ],
    caughtBy: { check: ['exclusion'] },
  },
  {
    name: 'a grant whose answer came too late is held',
    edits: [
      {
        file: fromAcquiring,
        find: 'if (context.now < held.validUntil) {',
        replace: 'if (context.now < held.validUntil + context.rules.ttl) {',
      },
    ],
    caughtBy: { check: ['granted-but-not-held'] },
  },
  {
    name: 'a claim has no time limit',
    edits: [
      {
        file: fromAcquiring,
        find: 'if (now < state.call.limitAt) return quiet(state)',
        replace: 'return quiet(state)',
      },
    ],
    caughtBy: { check: ['runaway'] },
  },
  {
    name: 'a claim that ran into its time limit is not ended',
    edits: [
      {
        file: fromAcquiring,
        find: 'abortCall(state.call, waitOutFailure(uncertain(state), error, false, context))',
        replace: 'waitOutFailure(uncertain(state), error, false, context)',
      },
    ],
    caughtBy: { check: ['leaked-request'] },
  },
  {
    name: 'a waiter asks a failed store without a pause',
    edits: [
      {
        file: pauses,
        find: 'return Math.max(outageBackoff(failures, longestPoll(rules), random), Math.min(asked, LONGEST_ASKED))',
        replace: 'return 0',
      },
    ],
    caughtBy: { check: ['runaway'] },
  },
  {
    name: 'a waiter does not ask at the expiry',
    edits: [
      {
        file: pauses,
        find: 'return rules.ordered ? seldom : Math.min(seldom, atExpiry)',
        replace: 'return 20 * seldom',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'a failed heartbeat is repeated without a pause',
    edits: [
      {
        file: pauses,
        find: 'return Math.max(pause, Math.min(asked, remaining / 2))',
        replace: 'return 0 * Math.max(pause, asked)',
      },
    ],
    caughtBy: { check: ['two-in-flight'] },
  },
]
