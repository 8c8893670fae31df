import type { RecipeMutant } from '../support/mutants.js'

const VALUES = 'single-flight/stored-values.ts'
const FLIGHT = 'single-flight/single-flight.ts'

const unannounced = {
  file: VALUES,
  find: 'await this.#write(lease, held, toMetadata(record, held.fencingToken))',
  replace: 'held.signal.throwIfAborted()',
}

export const mutants: readonly RecipeMutant[] = [
  {
    name: 'a refresh begins before the record says so',
    edits: [unannounced],
    caughtBy: { law: 'a refresh does not begin before the record says so' },
  },
  {
    name: 'a refresh begins before the record says so, in the simulator',
    edits: [unannounced],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a refresh is not told that the one before was interrupted',
    edits: [{ file: VALUES, find: 'interrupted: record.isBegun', replace: 'interrupted: false' }],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a holder does not look whether another process has refreshed the value meanwhile',
    edits: [{ file: VALUES, find: 'found !== undefined && isEnough(found)', replace: 'false' }],
    caughtBy: { law: 'one process refreshes, and every caller of every process gets the value' },
  },
  {
    name: 'a refresh that failed counts as interrupted',
    edits: [
      {
        file: VALUES,
        find: 'if (!held.signal.aborted) await lease.update(toMetadata(record)).catch(() => {})',
        replace: '',
      },
    ],
    caughtBy: { law: 'a refresh that fails leaves the value before to the next caller' },
  },
  {
    name: 'the name becomes free before the value is confirmed',
    edits: [
      {
        file: VALUES,
        find: 'await this.#write(lease, held, toMetadata({ stored, isBegun: false }))',
        replace: 'void this.#write(lease, held, toMetadata({ stored, isBegun: false })).catch(() => {})',
      },
    ],
    caughtBy: {
      law: 'a value that cannot be confirmed has an unknown outcome, and no later refresh takes it for ended',
    },
  },
  {
    name: 'the callers of a stale value wait for its refresh',
    edits: [
      {
        file: FLIGHT,
        find: "return known.state !== 'expired' && accepts(known.value)",
        replace: "return known.state === 'fresh' && accepts(known.value)",
      },
    ],
    caughtBy: {
      law: 'while a value is stale, callers get it at once, and one process refreshes it behind them',
    },
  },
  {
    name: 'stopping aborts a refresh at once',
    edits: [{ file: FLIGHT, find: 'timeout / 2, Promise', replace: '0, Promise' }],
    caughtBy: { law: 'stopping lets a refresh write its value, and leaves the key to the next caller at once' },
  },
]
