import type { Mutant } from './mutant.js'

/** Each rule of the metadata in records, broken. */
export const metadataMutants: readonly Mutant[] = [
  {
    name: 'a holder does not find the metadata of the last holder',
    edits: [
      { file: 'store-lease.ts', find: 'this.#previous = effect.previous', replace: 'this.#previous = undefined' },
    ],
    caughtBy: { check: ['wrong-previous'] },
  },
  {
    name: 'a repeated request finds its own metadata (compare and set)',
    edits: [
      {
        file: 'cas/cas-store.ts',
        find: 'const previous = isOurs ? record.previous : previousOf(record)',
        replace: 'const previous = previousOf(record)',
      },
    ],
    caughtBy: { check: ['wrong-previous'], under: 'loss' },
  },
  {
    name: 'an update under an old grant is written',
    edits: [
      {
        file: 'memory/memory-lease-store.ts',
        find: 'if (outcome.renewed && record !== undefined) record.metadata = kept',
        replace: 'if (record !== undefined) record.metadata = kept',
      },
    ],
    caughtBy: { check: ['wrong-previous'], under: 'delay' },
  },
]
