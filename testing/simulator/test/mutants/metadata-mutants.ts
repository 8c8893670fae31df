import type { Mutant } from './mutant.js'

/** Each rule of the metadata in records, broken. */
export const metadataMutants: readonly Mutant[] = [
  {
    name: 'a holder does not find the metadata of the last holder',
    edits: [
      {
        file: 'store-lease/store-lease.ts',
        find: 'this.#previous = effect.previous',
        replace: 'this.#previous = undefined',
      },
    ],
    caughtBy: { check: ['wrong-previous'] },
  },
  {
    name: 'a repeated request finds its own metadata (compare and set)',
    edits: [
      {
        file: 'cas/cas-decisions.ts',
        find: 'const { fencingToken, previous } = record',
        replace: 'const { fencingToken } = record\n  const previous = previousOf(record)',
      },
    ],
    caughtBy: { check: ['wrong-previous'], under: 'loss' },
  },
  {
    name: 'a request without metadata clears the metadata',
    edits: [
      {
        file: 'life-cycle/life-cycle.ts',
        find: 'withoutBreakReason(lease?.metadata ?? NO_METADATA)',
        replace: 'withoutBreakReason(NO_METADATA)',
      },
    ],
    caughtBy: { check: ['wrong-previous'] },
  },
  {
    name: 'a request without metadata clears the metadata (compare and set)',
    edits: [
      {
        file: 'cas/cas-decisions.ts',
        find: 'given ?? withoutBreakReason(record.metadata)',
        replace: 'given ?? {}',
      },
    ],
    caughtBy: { check: ['wrong-previous'] },
  },
  {
    name: 'an update under an old grant is written',
    edits: [
      {
        file: 'life-cycle/life-cycle.ts',
        find: 'return { outcome: { renewed: false, reason: refusalOf(lease, grantId), ...holderOf(name, lease, now) } }',
        replace: `const next = lease && metadata && { ...lease, metadata }
      return { outcome: { renewed: false, reason: refusalOf(lease, grantId), ...holderOf(name, lease, now) }, next }`,
      },
    ],
    caughtBy: { check: ['wrong-previous'], under: 'delay' },
  },
]
