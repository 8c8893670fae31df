/** As in `@leasehold/testing`. */
interface UnitMutant {
  readonly title: string
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly test: string
  readonly name: string
}

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'grants: the lease is taken, whatever was written since the look',
    file: 'src/recorded-grants.ts',
    find: 'await take({ conditions: resource.unwritten(found), abortSignal })',
    replace: 'await take({ abortSignal })',
    test: 'test/grant-rules.test.ts',
    name: 'a claim for a version that was written in between is refused, and leaves no lease behind',
  },
  {
    title: 'grants: the lease on a container is taken, whatever was written since the look',
    file: 'src/recorded-grants.ts',
    find: 'await take({ conditions: resource.unwritten(found), abortSignal })',
    replace:
      "await take(resource.kind === 'container' ? { abortSignal } : { conditions: resource.unwritten(found), abortSignal })",
    test: 'test/grant-rules.test.ts',
    name: 'an entry that its user wrote in between is kept',
  },
  {
    title: 'grants: a record that the service refused leaves the lease taken',
    file: 'src/recorded-grants.ts',
    find: 'if (isRefusal(error))',
    replace: "if (isRefusal(error) && name === '')",
    test: 'test/grant-rules.test.ts',
    name: 'a grant whose record the service refuses is an error, and leaves no lease behind',
  },
  {
    title: 'grants without records: a token is reported within the second in which it was made',
    file: 'src/unrecorded-grants.ts',
    find: 'while (found.date.getTime() <= date.getTime())',
    replace: 'while (found.date.getTime() < date.getTime())',
    test: 'test/grant-rules.test.ts',
    name: 'a token without a record is reported only after its second',
  },
  {
    title: 'conditions: a request is not conditional on what was found',
    file: 'src/conditions.ts',
    find: 'return { abortSignal, conditions: resource.unwritten(found) }',
    replace: 'return { abortSignal }',
    test: 'test/conditions.test.ts',
    name: 'is noticed: release has no effect',
  },
  {
    title: 'conditions: a break is not conditional on what was found',
    file: 'src/lease-break.ts',
    find: 'const isConditional = grantId !== undefined || conditions !== undefined',
    replace: 'const isConditional = grantId !== undefined',
    test: 'test/conditions.test.ts',
    name: 'is noticed: break has no effect',
  },
  {
    title: 'conditions: an ETag is not compared',
    file: 'src/conditions.ts',
    find: 'if (ifMatch !== undefined && ifMatch !== ANY && ifMatch !== etag)',
    replace: 'if (ifMatch === undefined && ifMatch !== ANY && ifMatch !== etag)',
    test: 'test/conditions.test.ts',
    name: 'a lease on a blob (metadata: false) renew has an effect only if its conditions are met',
  },
  {
    title: 'leases: a release is not bound to its conditions',
    file: 'src/azure-blob-lease.ts',
    find: 'if (conditions === undefined || grant === undefined || !this.checkLease()) return',
    replace: 'return',
    test: 'test/conditions.test.ts',
    name: 'stays held where the condition of a renewal, a release or a hand-off is not met',
  },
  {
    title: 'tokens: one that is raised again to less becomes smaller',
    file: 'src/recorded-grants.ts',
    find: 'if (stored.fencingToken >= fencingToken) return true',
    replace: 'if (stored.fencingToken === fencingToken) return true',
    test: 'test/raised-tokens.test.ts',
    name: 'is not written again, and does not become smaller',
  },
  {
    title: 'tokens: a raise drops the metadata of the record',
    file: 'src/recorded-grants.ts',
    find: 'stored?.grantId === grant.grantId ? stored : { ...grant, metadata: {} }',
    replace: 'stored?.grantId === grant.grantId ? { ...grant, metadata: {} } : { ...grant, metadata: {} }',
    test: 'test/raised-tokens.test.ts',
    name: 'replaces nothing else in the record',
  },
  {
    title: 'tokens: the next grant takes the time of the service, although the last token is larger',
    file: 'src/last-writes.ts',
    find: 'return next > time ? next : time',
    replace: 'return next > time && time < 0n ? next : time',
    test: 'test/raised-tokens.test.ts',
    name: 'is in the next grant of a store that did not raise it',
  },
  {
    title: 'heartbeats: the record of a renewed grant is not looked at',
    file: 'src/recorded-grants.ts',
    find: 'if (isSeen && etag !== undefined && seen.etag === etag) return RENEWED',
    replace: 'return RENEWED',
    test: 'test/laws/blobs.test.ts',
    name: 'a broken grant does not come back with a late duplicate of its claim',
  },
  {
    title: 'heartbeats: a later grant with the same id is renewed',
    file: 'src/recorded-grants.ts',
    find: 'if (stored?.grantId === grantId && stored.fencingToken > fencingToken) return GRANTED_AGAIN',
    replace: '',
    test: 'test/laws/blobs.test.ts',
    name: 'a broken grant does not come back with a late duplicate of its claim',
  },
]
