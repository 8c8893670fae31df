import type { RecipeMutant } from '../support/mutants.js'

const readWrite = 'read-write/read-write-lease.ts'
const entered = 'slots/entered-lease.ts'
const search = 'slots/slot-search.ts'
const drain = 'slots/slot-drain.ts'

/** Deliberate bugs of a read-write lease, and the law or check that catches each. */
export const mutants: readonly RecipeMutant[] = [
  {
    name: 'a writer does not wait for the readers',
    edits: [
      { file: readWrite, find: 'if (isEmpty && fencingToken', replace: 'if ((isEmpty || true) && fencingToken' },
      {
        file: readWrite,
        find: 'const isEmpty = await this.empty(slots, held.signal, request)',
        replace: 'const isEmpty = slots.length < 0',
      },
    ],
    caughtBy: { law: 'a writer waits until every reader has left' },
  },
  {
    name: 'a writer looks at the first slot only',
    edits: [{ file: readWrite, find: '{ length: record.slots }', replace: '{ length: 1 }' }],
    caughtBy: { law: 'a writer waits until every reader has left' },
  },
  {
    name: 'a writer does not look at the slots that a larger number left over',
    edits: [{ file: readWrite, find: '{ length: record.slots }', replace: '{ length: record.count }' }],
    caughtBy: {
      law: 'the number of the instance that came last counts for all, and a writer sees the readers of the larger one',
    },
  },
  {
    name: 'the metadata of a writer are dropped',
    edits: [
      { file: readWrite, find: 'turnstile.stay(held, record, metadata)', replace: 'turnstile.stay(held, record)' },
    ],
    caughtBy: { law: 'the metadata of a writer is in the record while it holds the name' },
  },
  {
    name: 'a reader enters although it lost the turnstile',
    edits: [{ file: search, find: '|| !held.checkLease()', replace: '' }],
    caughtBy: { law: 'a reader whose turnstile was lost before its slot was granted does not read' },
  },
  {
    name: 'a reader enters beside the turnstile',
    edits: [
      {
        file: search,
        find: 'if (!(await turnstile.take(held, request))) return undefined',
        replace: 'await turnstile.take(held, { ...request, isPatient: false })',
      },
      { file: search, find: 'fencingToken === undefined || !held.checkLease()', replace: 'found.slot < 0' },
      {
        file: search,
        find: '{ ...found, fencingToken, left }',
        replace: '{ ...found, fencingToken: fencingToken ?? 0n, left }',
      },
      { file: search, find: '!(await leaving)', replace: 'found.slot < 0' },
      { file: search, find: ' || !this.#held.checkLease()', replace: '' },
      { file: search, find: 'await turnstile.read(held)', replace: 'turnstile.readAny(held)' },
    ],
    caughtBy: { law: 'a writer is alone' },
  },
  {
    name: 'a reader becomes a writer',
    edits: [
      {
        file: readWrite,
        find: 'if (!shared.isInUse) return undefined',
        replace: 'if (shared !== undefined) return undefined',
      },
    ],
    caughtBy: { law: 'a reader cannot become a writer, nor a writer a reader' },
  },
  {
    name: 'a slot that could not be read counts as empty',
    edits: [{ file: drain, find: 'if (!isPatient) throw error', replace: 'full.delete(slot)' }],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a lease counts as valid until its loss is noticed',
    edits: [
      {
        file: entered,
        find: 'return this.#entry?.lease.checkLease() === true\n',
        replace: 'return this.#entry?.lease.fencingToken !== undefined\n',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
]
