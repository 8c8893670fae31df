import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'selfFence: acknowledging late moves the deadline',
    file: 'src/self-fence.ts',
    find: 'deadline.shorten(killAt - this.#askBefore, killAt)',
    replace: 'deadline.set(killAt - this.#askBefore, killAt)',
    test: 'test/acknowledging.test.ts',
    name: 'stays where it is if the loss is acknowledged late',
  },
]
