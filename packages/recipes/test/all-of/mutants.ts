import type { RecipeMutant } from '../support/mutants.js'

export const mutants: readonly RecipeMutant[] = [
  {
    name: 'parts are acquired in the order in which they are given',
    edits: [
      {
        file: 'all-of/all-of.ts',
        find: 'return one < other ? -1 : 1',
        replace: 'return 0',
      },
    ],
    caughtBy: { law: 'two that are given their parts in opposite orders never wait for each other' },
  },
  {
    name: 'it is valid although a part is not',
    edits: [
      {
        file: 'all-of/joint-grant.ts',
        find: 'if (!this.#isOver && !this.#taken.every(({ part }) => part.checkLease())) this.#isOver = true',
        replace: '',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a refused part leaves the parts before it held',
    edits: [{ file: 'all-of/all-of.ts', find: '      await this.#free(grant)\n', replace: '' }],
    caughtBy: { law: 'all parts are held, or none' },
  },
  {
    name: 'each lost part is notified',
    edits: [
      { file: 'all-of/joint-grant.ts', find: 'if (this.loss !== undefined) return', replace: '' },
      { file: 'all-of/all-of.ts', find: 'if (grant !== this.#grant) return', replace: '' },
      { file: 'all-of/all-of.ts', find: 'this.#callbacks.splice(0)', replace: 'this.#callbacks' },
    ],
    caughtBy: { law: 'one loss is notified, with the name of a part, when the store is out of reach' },
  },
  {
    name: 'the loss of one part leaves the others held',
    edits: [{ file: 'all-of/all-of.ts', find: 'void this.#inTurn(() => this.#free(grant))', replace: '' }],
    caughtBy: { law: 'the loss of any part is the loss of all, and frees the others' },
  },
  {
    name: 'parts are released in the order in which they were acquired',
    edits: [{ file: 'all-of/joint-grant.ts', find: 'this.#taken.toReversed()', replace: '[...this.#taken]' }],
    caughtBy: { law: 'parts are released in the reverse of the order in which they are acquired' },
  },
  {
    name: 'a part that was held before is released',
    edits: [{ file: 'all-of/joint-grant.ts', find: 'if (taken.isKept) continue', replace: '' }],
    caughtBy: { law: 'a part that was held before stays held' },
  },
  {
    name: 'a part that is lost while others are waited for is not noticed',
    edits: [{ file: 'all-of/joint-grant.ts', find: 'this.#climbing.abort(this.loss.cause)', replace: '' }],
    caughtBy: { law: 'a part that is lost while others are waited for is asked for again' },
  },
  {
    name: 'a loss is notified after a release',
    edits: [
      { file: 'all-of/joint-grant.ts', find: "this.loss ??= { reason: 'closed' }", replace: '' },
      { file: 'all-of/all-of.ts', find: 'this.#callbacks = []\n    this.#withdraw()', replace: 'this.#withdraw()' },
      { file: 'all-of/all-of.ts', find: 'if (grant !== this.#grant) return', replace: '' },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
]
