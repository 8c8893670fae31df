import type { RecipeMutant } from '../support/mutants.js'

const semaphore = 'semaphore/semaphore.ts'
const turnstile = 'slots/turnstile.ts'
const entered = 'slots/entered-lease.ts'
const search = 'slots/slot-search.ts'

/** Deliberate bugs of a semaphore, and the law or check that catches each. */
export const mutants: readonly RecipeMutant[] = [
  {
    name: 'there is one slot too many',
    edits: [
      {
        file: search,
        find: 'const { count, next, isFull } = this.#record',
        replace: 'const { next, isFull } = this.#record\n    const count = this.#record.count + 1',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a permit counts as valid until its loss is noticed',
    edits: [
      {
        file: entered,
        find: 'return this.#entry?.lease.checkLease() === true\n',
        replace: 'return this.#entry?.lease.fencingToken !== undefined\n',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a smaller number of permits is reached at once',
    edits: [
      {
        file: semaphore,
        find: '!isSmaller && (record.slots <= permits || isEmptied)',
        replace: 'record.count > 0',
      },
    ],
    caughtBy: { law: 'a smaller number is reached when the highest slots are empty, and no permit is taken away' },
  },
  {
    name: 'a larger number does not wait for the slots that a smaller one left over',
    edits: [{ file: semaphore, find: '(record.slots <= permits || isEmptied)', replace: 'record.slots > 0' }],
    caughtBy: { law: 'a larger number lets more in, in every instance, but not before leftover slots are empty' },
  },
  {
    name: 'instances that disagree follow the record',
    edits: [{ file: turnstile, find: 'if (!this.#hasAgreed) {', replace: 'if (this.#count < 0) {' }],
    caughtBy: { law: 'instances that disagree about the number of permits are refused, with both numbers' },
  },
  {
    name: 'an attempt without a wait gives up where another enters',
    edits: [
      {
        file: turnstile,
        find: 'if (await lease.acquire({ signal })) return true',
        replace: 'return await lease.acquire({ signal })',
      },
    ],
    caughtBy: { law: 'attempts without a wait that come at the same time get all free permits' },
  },
  {
    name: 'the first waiter leaves the turnstile while it waits for a slot',
    edits: [{ file: search, find: 'attempt.isPatient ? await this.#wait(attempt) : undefined', replace: 'undefined' }],
    caughtBy: { law: 'a hand-over costs the same number of store calls, however many wait' },
  },
  {
    name: 'a permit has the fencing token of its slot',
    edits: [
      {
        file: entered,
        find: '? undefined : this.#entry.fencingToken',
        replace: '? undefined : this.#entry.lease.fencingToken',
      },
    ],
    caughtBy: { law: 'fencing tokens are larger for every later permit' },
  },
]
