import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'records: a Lease that another program took and released is free at once',
    file: 'src/record-codec.ts',
    find: 'const record = noted === undefined ? released',
    replace:
      'const record = noted?.transitions === undefined || (layout.transitionsOf(fields) ?? 0) > noted.transitions ? released',
    test: 'test/shared-lease.test.ts',
    name: 'is not free when the Go elector releases it',
  },
  {
    title: 'records: a Go elector that came too early ends the lock of the holder before it',
    file: 'src/record-codec.ts',
    find: 'metadata: {}, ...displacing(noted) } : recordFieldsOf(note)',
    replace: 'metadata: {} } : recordFieldsOf(note)',
    test: 'test/shared-lease.test.ts',
    name: 'is not taken over after the shorter duration of the Go elector',
  },
  {
    title: 'requests: a heartbeat waits behind the requests of claims',
    file: 'src/api/api-client.ts',
    find: "this.#requests.enter(request.method !== 'GET', call)",
    replace: 'this.#requests.enter(false, call)',
    test: 'test/many-leases.test.ts',
    name: 'sends a heartbeat before the requests that wait',
  },
  {
    title: 'requests: all are sent at once',
    file: 'src/api/request-queue.ts',
    find: 'if (this.#underWay < this.#most)',
    replace: 'if (this.#underWay >= 0)',
    test: 'test/request-queue.test.ts',
    name: 'lets so many through at a time',
  },
  {
    title: 'log: control characters of a record reach the terminal',
    file: 'src/object-register.ts',
    find: 'logger.warn(\n        shownText(',
    replace: 'logger.warn(\n        String(',
    test: 'test/hostile-records.test.ts',
    name: 'with control characters is logged in one line',
  },
  {
    title: 'requests: a limit of the server is repeated until the time is up, which hides it',
    file: 'src/api/api-client.ts',
    find: 'clock.now() + pause <= pauseUntil',
    replace: 'pauseUntil > 0',
    test: 'test/errors.test.ts',
    name: '429 is what a lease reports, not a time-out',
  },
]
