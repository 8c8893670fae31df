import type { Mutant } from './mutant.js'

/** Bugs that leave listeners or requests behind. */
export const leakMutants: readonly Mutant[] = [
  {
    name: 'a watch is not ended with the wait',
    edits: [{ file: 'engine/turn-watch.ts', find: '() => call.abort()', replace: '() => {}' }],
    caughtBy: { check: ['leaked-listener'] },
  },
  {
    name: 'a withdrawal is never given up',
    edits: [
      {
        file: 'engine/turn-watch.ts',
        find: 'withdraw.call(store, rules.name, grantId, call))',
        replace:
          'withdraw.call(store, rules.name, grantId, { timeout: 1, aborted: false, signal: new AbortController().signal, onAbort: () => () => {} }))',
      },
    ],
    caughtBy: { check: ['leaked-request'] },
  },
]
