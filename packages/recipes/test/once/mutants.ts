import type { RecipeMutant } from '../support/mutants.js'

export const mutants: readonly RecipeMutant[] = [
  {
    name: 'a holder does not look at the mark before its work',
    edits: [
      {
        file: 'once.ts',
        find: 'const left = this.#markFrom(lease.previous, ',
        replace: 'const left = this.#markFrom({}, ',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'the name becomes free before the mark is confirmed',
    edits: [
      {
        file: 'once.ts',
        find: 'isConfirmed = await lease.update(written)',
        replace: 'void lease.update(written)\n        isConfirmed = true',
      },
    ],
    caughtBy: { law: 'the name is not free before the mark is confirmed' },
  },
  {
    name: 'the name becomes free before the mark is confirmed, in the simulator',
    edits: [
      {
        file: 'once.ts',
        find: 'isConfirmed = await lease.update(written)',
        replace: 'void lease.update(written)\n        isConfirmed = true',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a mark that was not confirmed is reported as done',
    edits: [{ file: 'once.ts', find: 'written !== undefined && isConfirmed', replace: 'written !== undefined' }],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'the loss of the lease after the work is reported as one before its end',
    edits: [
      {
        file: 'once.ts',
        find: 'if (written !== undefined) throw this.#unmarked(key, error)',
        replace: 'if (written !== undefined) throw error',
      },
    ],
    caughtBy: { law: 'a work whose mark cannot be confirmed has an unknown outcome, and is done again' },
  },
  {
    name: 'the mark is written before the work',
    edits: [
      {
        file: 'once.ts',
        find: 'const outcome = await work(held)',
        replace:
          'await lease.update(createMark(null, { owner: this.#owner, at: this.#wall(), room: 4_096 }))\n        const outcome = await work(held)',
      },
    ],
    caughtBy: { law: 'a work that fails leaves the key to the next caller' },
  },
  {
    name: 'a work whose outcome is too large leaves no mark',
    edits: [
      {
        file: 'once-mark.ts',
        find: "sizeOf(mark) > room ? { ...done, outcomeFault: 'too-large' } : mark",
        replace: 'mark',
      },
    ],
    caughtBy: { law: 'an outcome that cannot be kept is dropped, and the work is not done again' },
  },
  {
    name: 'closing leaves the works running',
    edits: [{ file: 'once.ts', find: 'await this.close(this.#leases.all, timeout)', replace: 'void timeout' }],
    caughtBy: { law: 'closing aborts the work, and leaves the key to the next caller at once' },
  },
  {
    name: 'a holder takes an expired mark for a valid one',
    edits: [
      {
        file: 'once.ts',
        find: 'const left = this.#markFrom(lease.previous, key)',
        replace: 'const left = markFrom(lease.previous, this.#detailsOf(key))',
      },
    ],
    caughtBy: { law: 'an outcome that has expired is forgotten, and the work is done again once' },
  },
]
