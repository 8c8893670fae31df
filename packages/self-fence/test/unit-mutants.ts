import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'selfFence: acknowledging late moves the deadline',
    file: 'src/self-fence.ts',
    find: 'this.#set(Math.min(this.#killAt, systemClock.now() + this.time))',
    replace: 'this.#set(systemClock.now() + this.time)',
    test: 'test/acknowledging.test.ts',
    name: 'stays where it is if the loss is acknowledged late',
  },
]
