import type { UnitMutant } from '@leasehold/testing'

const refresh = 'test/single-flight/refresh.test.ts'
const storage = 'test/single-flight/storage.test.ts'
const values = 'test/single-flight/single-flight.test.ts'

/** One-line changes that break a rule of `SingleFlight`, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'single-flight: an older value takes the place of a later one in memory',
    file: 'src/single-flight/known-value.ts',
    find: 'other.stored.token < this.stored.token',
    replace: 'other.stored.token !== this.stored.token',
    test: storage,
    name: 'may go back to an older value',
  },
  {
    title: 'single-flight: the wall clock makes a known value young again',
    file: 'src/single-flight/single-flight.ts',
    find: '?.orLater(used.known)',
    replace: '',
    test: values,
    name: 'that are a little behind count a value of another process as new',
  },
  {
    title: 'single-flight: a value of the future is new for as long as the clocks differ',
    file: 'src/single-flight/flight-record.ts',
    find: 'age < -freshFor ? freshFor : Math.max(0, age)',
    replace: 'Math.max(0, age)',
    test: values,
    name: 'that are far behind count it as stale',
  },
  {
    title: 'single-flight: a caller joins a wait that was given up',
    file: 'src/single-flight/flight-keys.ts',
    find: 'return this.hasBegun || !this.call.aborted',
    replace: 'return true',
    test: refresh,
    name: 'is started for a caller that comes while the wait of others is given up',
  },
  {
    title: 'single-flight: a waiter gets a value only with the lease',
    file: 'src/single-flight/single-flight.ts',
    find: 'if (store.watch !== undefined) watch()',
    replace: 'if (store.watch === undefined) watch()',
    test: values,
    name: 'is got by a waiter as soon as the store signals that it was written',
  },
  {
    title: 'single-flight: a failed refresh behind the callers is repeated at each get',
    file: 'src/single-flight/single-flight.ts',
    find: 'this.#quieten(used, 1)',
    replace: '',
    test: refresh,
    name: 'that fails behind its callers is an error event, and is not repeated at once',
  },
]
