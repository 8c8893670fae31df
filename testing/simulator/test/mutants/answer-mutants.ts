import type { Mutant } from './mutant.js'

const storeAnswers = 'engine/store-answers.ts'

/** Invalid answers of a store that are taken for valid ones. */
export const answerMutants: readonly Mutant[] = [
  {
    name: 'a refused renewal needs no reason',
    edits: [
      {
        file: storeAnswers,
        find: "return refusals.includes(reason) ? faultOfHolder(holder) : misfit('reason', refusals.join(', '), reason)",
        replace: 'return faultOfHolder(holder)',
      },
    ],
    caughtBy: { check: ['wrong-reason'] },
  },
  {
    name: 'any answer but a refusal confirms a heartbeat',
    edits: [
      {
        file: storeAnswers,
        find: 'if (renewed === true) return undefined\n',
        replace: 'if (renewed !== false) return undefined\n',
      },
    ],
    caughtBy: { check: ['uncaught-error'] },
  },
  {
    name: 'a grant needs no token',
    edits: [
      {
        file: storeAnswers,
        find: "if (typeof fencingToken !== 'bigint') return misfit('grant.fencingToken', 'a bigint', fencingToken)",
        replace: '',
      },
    ],
    caughtBy: { check: ['revived'] },
  },
  {
    name: 'a release needs no answer',
    edits: [
      {
        file: storeAnswers,
        find: "return typeof released === 'boolean' ? faultOfHolder(holder) : misfit('released', 'true or false', released)",
        replace: 'return undefined',
      },
    ],
    caughtBy: { check: ['uncaught-error'] },
  },
]
