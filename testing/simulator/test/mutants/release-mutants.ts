import type { Mutant } from './mutant.js'

const fromReleasing = 'engine/from-releasing.ts'
const grantCleanup = 'engine/grant-cleanup.ts'

/** Bugs of a release, a hand-off, and of what is given back afterwards. */
export const releaseMutants: readonly Mutant[] = [
  {
    name: 'a release has no time limit',
    edits: [
      {
        file: fromReleasing,
        find: 'const limitAt = Math.min(state.limitAt, now + rules.operationTimeout)',
        replace: 'const limitAt = Math.min(state.limitAt, Number.POSITIVE_INFINITY)',
      },
    ],
    caughtBy: { check: ['stuck-workload'] },
  },
  {
    name: 'a release that is given up does not end its call',
    edits: [{ file: fromReleasing, find: 'return abortCall(state.call, ended)', replace: 'return ended' }],
    caughtBy: { check: ['leaked-request'] },
  },
  {
    name: 'a failed release is repeated at once',
    edits: [{ file: fromReleasing, find: 'retryAt: Math.min(now + pause, limitAt)', replace: 'retryAt: now' }],
    caughtBy: { check: ['runaway'] },
  },
  {
    name: 'a stale answer ends a release',
    edits: [
      {
        file: fromReleasing,
        find: "if ('op' in event && !awaits(state, event.op)) return quiet(state)\n",
        replace: '\n',
      },
    ],
    caughtBy: { check: ['leaked-request'] },
  },
  {
    name: 'a leftover is freed without its grant id',
    edits: [{ file: grantCleanup, find: 'if (grant?.grantId === grantId) {', replace: 'if (grant !== undefined) {' }],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'a grant is freed before its holder has heard of the loss',
    edits: [
      {
        file: grantCleanup,
        find: 'queueMicrotask(() => this.#tryAgain(leftover))',
        replace: 'this.#tryAgain(leftover)',
      },
    ],
    caughtBy: { check: ['unasked-release'] },
  },
]
