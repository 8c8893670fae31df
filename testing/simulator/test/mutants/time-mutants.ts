import type { Mutant } from './mutant.js'

const age = 'cas/proven-age.ts'
const marks = 'cas/doubt-marks.ts'
/** Of the simulated store. */
const register = '../../../testing/simulator/src/observed-store.ts'
const shortLives = { check: ['broken-rule'], under: 'short-lives' } as const

/** Bugs in how the times of a store count, and a register that keeps its marks wrongly. */
export const timeMutants: readonly Mutant[] = [
  {
    name: 'the age of a record counts without the error of the clock',
    edits: [{ file: age, find: 'readAt - since - clockError', replace: 'readAt - since' }],
    caughtBy: shortLives,
  },
  {
    name: 'the age of a record counts by the clock of the challenger',
    edits: [
      {
        file: 'cas/cas-store.ts',
        find: 'this.#standings.see(name, entry, this.#clock.now())',
        replace:
          "this.#standings.see(name, 'readAt' in entry ? { ...entry, readAt: this.#clock.wall?.() ?? 0 } : entry, this.#clock.now())",
      },
    ],
    caughtBy: shortLives,
  },
  {
    name: 'a mark says that the version was seen before its write',
    edits: [
      {
        file: marks,
        find: 'this.#register.doubt(name, version, readAt, own)',
        replace: 'this.#register.doubt(name, version, readAt - entry.record.ttl, own)',
      },
    ],
    caughtBy: shortLives,
  },
  {
    name: 'a mark is not conditional on the version that was seen',
    edits: [
      {
        file: register,
        find: 'if (entry?.version !== mark.version) return',
        replace: 'if (entry === undefined) return',
      },
    ],
    caughtBy: shortLives,
  },
  {
    name: 'a mark stays when the holder renews',
    edits: [
      {
        file: register,
        find: 'this.#entries.set(name, { record, version',
        replace: 'this.#entries.set(name, { ...this.#entries.get(name), record, version',
      },
    ],
    caughtBy: shortLives,
  },
  {
    name: 'no challenger makes a mark',
    edits: [{ file: marks, find: 'if (this.#marked.get(name) === true) return', replace: 'if (MOST > 0) return' }],
    caughtBy: { check: ['broken-rule', 'no-progress'], under: 'short-lives' },
  },
]
