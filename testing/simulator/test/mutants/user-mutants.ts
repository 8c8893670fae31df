import type { Mutant } from './mutant.js'

const storeLease = 'store-lease/store-lease.ts'
const grantUsers = 'store-lease/grant-users.ts'

/** Bugs of the lease towards its callers, their callbacks and their runs. */
export const userMutants: readonly Mutant[] = [
  {
    name: 'a run counts as a caller of acquire',
    edits: [
      {
        file: grantUsers,
        find: '    this.#isKept = false\n    this.#grantId = grant.grantId',
        replace: '    this.#isKept = true\n    this.#grantId = grant.grantId',
      },
    ],
    caughtBy: { check: ['unfreed-run'] },
  },
  {
    name: 'a caller of acquire does not keep the grant of a run',
    edits: [{ file: grantUsers, find: '    this.#isKept = true\n    if', replace: '    if' }],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'only the last caller is notified of the loss',
    edits: [{ file: grantUsers, find: '[onLost] : [...this.#onLost, onLost]', replace: '[onLost] : [onLost]' }],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'a loss does not end the run',
    edits: [{ file: grantUsers, find: '    run?.end(error)\n', replace: '' }],
    caughtBy: { check: ['run-not-aborted'] },
  },
  {
    name: 'a caller of a lease that is held is not notified of its loss',
    edits: [
      {
        file: storeLease,
        find: '    this.#users.keep(options.onLost)\n    return Promise.resolve(true)',
        replace: '    return Promise.resolve(true)',
      },
    ],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'acquire of a lease whose validity is over returns true',
    edits: [
      {
        file: storeLease,
        find: 'if (!this.checkLease()) return this.#claim(options, undefined)',
        replace: 'if (this.grant === undefined) return this.#claim(options, undefined)',
      },
    ],
    caughtBy: { check: ['granted-but-not-held'] },
  },
  {
    name: 'a hand-off does not end the runs',
    edits: [{ file: storeLease, find: 'if (!workContext.includes(this)) this.#runs?.onReleased()', replace: '' }],
    caughtBy: { check: ['run-not-aborted'] },
  },
  {
    name: 'nobody hears of the outcome of a renewal by hand',
    edits: [
      {
        file: storeLease,
        find: 'if (this.#renewal === undefined) {\n      this.#renewal = renewal',
        replace: 'if (this.#renewal === undefined) {',
      },
    ],
    caughtBy: { check: ['stuck-call'] },
  },
  {
    name: 'a release does not end the runs',
    edits: [
      { file: storeLease, find: '    this.#runs?.onReleased()\n    if (this.grant', replace: '    if (this.grant' },
    ],
    caughtBy: { check: ['run-not-aborted'] },
  },
]
