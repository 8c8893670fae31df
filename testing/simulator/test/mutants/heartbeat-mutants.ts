import type { Mutant } from './mutant.js'

const fromHeld = 'engine/from-held.ts'

/** Bugs of a lease that is held. */
export const heartbeatMutants: readonly Mutant[] = [
  {
    name: 'a loss does not end the heartbeat under way',
    edits: [{ file: fromHeld, find: "state.call === undefined ? [] : [{ type: 'abort' }]", replace: '[]' }],
    caughtBy: { check: ['leaked-request'] },
  },
  {
    name: 'a release does not end the heartbeat under way',
    edits: [{ file: fromHeld, find: 'return abortCall(state.call, next)', replace: 'return next' }],
    caughtBy: { check: ['leaked-request'] },
  },
  {
    name: 'a failed heartbeat is repeated at once',
    edits: [{ file: fromHeld, find: 'context.shared(now + pause, now)', replace: 'now' }],
    caughtBy: { check: ['two-in-flight'] },
  },
  {
    name: 'a failed heartbeat does not end its call',
    edits: [{ file: fromHeld, find: "phase: 'jeopardy',\n      call: undefined,", replace: "phase: 'jeopardy'," }],
    caughtBy: { check: ['loss-not-notified'] },
  },
  {
    name: 'renew by hand sends a second heartbeat',
    edits: [
      {
        file: fromHeld,
        find: "if (state.call !== undefined && state.call.method !== 'read') return quiet(state)",
        replace: '',
      },
    ],
    caughtBy: { check: ['two-in-flight'] },
  },
  {
    name: 'the loss of a suspended holder is called expired',
    edits: [
      {
        file: fromHeld,
        find: "return suspended > state.suspended ? 'suspended' : 'expired'",
        replace: "return suspended > state.suspended ? 'expired' : 'suspended'",
      },
    ],
    caughtBy: { check: ['wrong-reason'] },
  },
]
