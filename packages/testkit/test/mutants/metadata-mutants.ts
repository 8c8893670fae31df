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
        find: 'return this.#renew(grant, this.#clock.now(), metadata)',
        replace: `const kept = this.#leases.get(grant.name)
    if (kept !== undefined) this.#leases.set(grant.name, { ...kept, metadata })
    return this.#renew(grant, this.#clock.now(), metadata)`,
      },
    ],
    caughtBy: { check: ['wrong-previous'], under: 'delay' },
  },
]
