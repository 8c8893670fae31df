import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'tokens: do not follow the clock of the service',
    file: 'src/dynamodb-register.ts',
    find: 'return next > BigInt(date) ? next : BigInt(date)',
    replace: 'return next',
    test: 'test/short-lived.test.ts',
    name: 'tokens follow the clock of the service',
  },
  {
    title: 'writes: one that the client has repeated counts as refused',
    file: 'src/dynamodb-register.ts',
    find: 'return isWritten || item?.[ITEM.version]?.S === version',
    replace: 'return isWritten && item?.[ITEM.version]?.S !== version',
    test: 'test/errors.test.ts',
    name: 'is recognised by its version',
  },
  {
    title: 'marks: a later one replaces the first',
    file: 'src/dynamodb-register.ts',
    find: 'if_not_exists(#doubtedSince, :since)',
    replace: ':since',
    test: 'test/short-lived.test.ts',
    name: 'of two marks that are made at once',
  },
  {
    title: 'reads: may be out of date where they decide',
    file: 'src/lease-table.ts',
    find: 'ConsistentRead: true',
    replace: 'ConsistentRead: false',
    test: 'test/costs.test.ts',
    name: 'a look at the holder',
  },
  {
    title: 'check: takes the item of a refusal for a fresh read',
    file: 'src/dynamodb-register.ts',
    find: 'name !== PROBE_NAME',
    replace: "name !== ''",
    test: 'test/probe.test.ts',
    name: 'finds a cache before the service',
  },
  {
    title: 'check: accepts a global table with eventual consistency',
    file: 'src/table-findings.ts',
    find: "if (MultiRegionConsistency === 'STRONG')",
    replace: "if (MultiRegionConsistency !== 'NONE')",
    test: 'test/probe.test.ts',
    name: 'refuses a global table',
  },
  {
    title: 'requests: one without credentials outlives its attempt',
    file: 'src/lease-table.ts',
    find: 'untilAborted(this.#client.send(command as never, { abortSignal }), call)',
    replace: 'this.#client.send(command as never, { abortSignal })',
    test: 'test/errors.test.ts',
    name: 'also while the client pauses, or waits for credentials',
  },
  {
    title: 'errors: have the headers of the request',
    file: 'src/failure-of.ts',
    find: 'cause: withoutRequest(failure)',
    replace: 'cause: error',
    test: 'test/faults.test.ts',
    name: 'an error has no part of the request',
  },
]
