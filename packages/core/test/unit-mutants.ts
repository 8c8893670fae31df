import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'system clock: a cancelled task runs',
    file: 'src/system-clock.ts',
    find: 'clearImmediate(turn)',
    replace: 'void turn',
    test: 'test/system-clock.test.ts',
    name: 'does not run once it is cancelled',
  },
  {
    title: 'outage: each failure of a long outage is logged',
    file: 'src/engine/outage.ts',
    find: 'if (now < this.#logAt) return false',
    replace: '',
    test: 'test/unreachable.test.ts',
    name: 'is logged at growing intervals while it lasts',
  },
  {
    title: 'outage: a wait that the store fails says nothing',
    file: 'src/engine/lease-engine.ts',
    find: 'if (!this.#claims.isEmpty) this.#onUnreachable(effect.error)',
    replace: '',
    test: 'test/unreachable.test.ts',
    name: 'is reported at the first failure',
  },
  {
    title: 'outage: each lease of a store logs its end',
    file: 'src/engine/outage.ts',
    find: 'if (this.#failing > 0) return false',
    replace: '',
    test: 'test/unreachable.test.ts',
    name: 'is over for the log when the last lease',
  },
  {
    title: 'outage: the second one is not reported',
    file: 'src/engine/lease-engine.ts',
    find: 'this.#isUnreachable = false\n    return this.group.outage.end()',
    replace: 'return this.group.outage.end()',
    test: 'test/unreachable.test.ts',
    name: 'is reported at the first failure',
  },
]
