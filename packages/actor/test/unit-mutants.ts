import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'guarded actor: forwarding ends after the worker is stopped',
    file: 'src/guarded-actor.ts',
    find: 'this.#close()\n    this.#host?.stop()\n    if',
    replace: 'this.#host?.stop()\n    this.#close()\n    if',
    test: 'test/lost.test.ts',
    name: 'stashes a message of the clean-up of the worker',
  },
]
