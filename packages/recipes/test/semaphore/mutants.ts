import type { RecipeMutant } from '../support/mutants.js'

const resizing = 'semaphore/resizing.ts'
const turnstile = 'slots/turnstile.ts'
const record = 'slots/turnstile-record.ts'
const entered = 'slots/entered-lease.ts'
const search = 'slots/slot-search.ts'

/** Deliberate bugs of a semaphore, and the law or check that catches each. */
export const mutants: readonly RecipeMutant[] = [
  {
    name: 'there is one slot too many',
    edits: [
      {
        file: search,
        find: 'const { count, slots: all } = this.record',
        replace: 'const { slots: all } = this.record\n    const count = this.record.count + 1',
      },
      { file: search, find: 'inTurn(this.record).filter(', replace: 'inTurn({ ...this.record, count }).filter(' },
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
    edits: [{ file: resizing, find: 'held.size <= permits', replace: 'held.size >= 0' }],
    caughtBy: { law: 'a smaller number is reached when the highest slots are empty, and no permit is taken away' },
  },
  {
    name: 'permits are given while more than the number are held',
    edits: [{ file: search, find: 'return held.size < count ? inTurn', replace: 'return held.size >= 0 ? inTurn' }],
    caughtBy: { law: 'after a smaller number, no permit is given while so many are held' },
  },
  {
    name: 'the slots that a larger number left over count as empty',
    edits: [{ file: record, find: 'slots: Math.max(record.slots, count), next: 0', replace: 'slots: count, next: 0' }],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'leftover slots that were held count as empty from then on',
    edits: [{ file: search, find: 'if (![...held].some((slot) => slot >= count))', replace: 'if (held.size >= 0)' }],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'an instance with another number follows the record',
    edits: [{ file: turnstile, find: '!this.#hasAgreed && found.made !== this.#made', replace: 'found.count < 0' }],
    caughtBy: {
      law: 'the number of the instance that came last counts for all, and never are more held than the larger one',
    },
  },
  {
    name: 'an instance brings its number every time',
    edits: [{ file: turnstile, find: '!this.#hasAgreed && found', replace: 'found' }],
    caughtBy: {
      law: 'the number of the instance that came last counts for all, and never are more held than the larger one',
    },
  },
  {
    name: 'an instance brings its number although it was resized',
    edits: [{ file: turnstile, find: 'found.made !== this.#made', replace: 'found.count !== this.#made' }],
    caughtBy: { law: 'a resize outlives the restart of an instance, until one is made with another number' },
  },
  {
    name: 'a waiter does not carry a resize out',
    edits: [{ file: search, find: 'due.resize && (await this.#obeyResize(ends.signal))', replace: 'false' }],
    caughtBy: { law: 'a resize does not wait behind those that wait for a permit' },
  },
  {
    name: 'a resize does not notice that the number was changed again',
    edits: [
      {
        file: resizing,
        find: 'if (record?.change === change) return record\n',
        replace: 'if (record) return record\n',
      },
    ],
    caughtBy: { law: 'a resize rejects if another one changes the number before it is reached' },
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
    edits: [{ file: search, find: 'found ??= await this.#wait(request)', replace: 'found ??= undefined' }],
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
