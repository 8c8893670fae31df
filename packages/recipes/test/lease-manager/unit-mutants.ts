import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'manager: a job whose lease was lost during its work is marked',
    file: 'src/lease-manager/job-run.ts',
    find: 'held.signal.throwIfAborted()',
    replace: '',
    test: 'test/lease-manager/lease-manager.test.ts',
    name: 'does not mark a job whose lease was lost during its work',
  },
  {
    title: 'manager: a stop() with a wrong argument ends the manager',
    file: 'src/recipe.ts',
    find: "checkFault(faultOfLimit('timeout', timeout), this.#details)",
    replace: '',
    test: 'test/lease-manager/lease-manager.test.ts',
    name: 'rejects a stop() with a wrong argument, which releases nothing',
  },
  {
    title: 'manager: claimFirst accepts any wait',
    file: 'src/lease-manager/lease-manager.ts',
    find: "checkFault(faultOfLimit('wait', wait) ?? faultOfSignal(signal))",
    replace: 'checkFault(faultOfSignal(signal))',
    test: 'test/wrong-arguments.test.ts',
    name: 'wait of claimFirst is a LeaseConfigurationError',
  },
]
