import { createLease, LeaseConfigurationError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { silentLogger } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { failure, noNamespace, type Reply } from './support/api-server/status.js'
import { akkaLeases, type Disturbance, leases, type TestApiServer } from './support/api-server/test-api-server.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

/** Disturbs the next request of a method once. */
function once(server: TestApiServer, method: string, disturbance: Disturbance): void {
  let isOver = false
  server.disturb = (request) => {
    if (isOver || request.method !== method) return undefined
    isOver = true
    return disturbance
  }
}

/** To every request of a method. */
function always(server: TestApiServer, method: string, reply: Reply): void {
  server.disturb = (request) => (request.method === method ? { reply } : undefined)
}

const claim = { name: 'job', owner: 'me', grantId: 'g', ttl: 15_000 }
const methods = (server: TestApiServer): string[] => server.requests.map(({ method }) => method)

describe('an answer with a solution', () => {
  it('401: repeats with fresh credentials, then asks to check the credentials', async () => {
    const server = await startServer()
    const store = await openStore(server.port, { token: 'expired' })
    await expect(store.acquire(claim, call)).rejects.toThrow('rejects the credentials')
    await expect(store.acquire(claim, call)).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    expect(methods(server)).toEqual(['GET', 'GET', 'GET', 'GET'])
  })

  it.each([
    ['get', ['create', 'update']],
    ['create', ['get', 'update']],
  ])('403: the verb %s is missing, and the Role that grants it', async (verb, verbs) => {
    const server = await startServer()
    server.tokens.set('limited', verbs)
    const store = await openStore(server.port, { token: 'limited' })
    const error = await store.acquire(claim, call).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(LeaseUnauthorisedError)
    const { message, leaseName } = error as LeaseUnauthorisedError
    expect(leaseName).toBe('job')
    expect(message).toContain(`the verb '${verb}' on leases.coordination.k8s.io in namespace 'default' is not granted`)
    expect(message).toContain('kind: Role\n')
    expect(message).toContain(`verbs: ["get", "create", "update", "watch"] # missing: ${verb}`)
  })

  it('403 for update: a claim of a new name is refused before it writes, with the Role that grants it', async () => {
    const server = await startServer()
    server.tokens.set('limited', ['get', 'create', 'watch'])
    const store = await openStore(server.port, { token: 'limited' })
    const error = await store.acquire(claim, call).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(LeaseUnauthorisedError)
    expect(error).toMatchObject({ leaseName: 'job' })
    const { message } = error as LeaseUnauthorisedError
    expect(message).toContain("lease 'job' could be acquired, but not renewed")
    expect(message).toContain('verbs: ["get", "create", "update", "watch"] # missing: update')
    expect(server.get(leases, 'job')).toBeUndefined()
    // As soon as it is granted, the claim is.
    server.tokens.set('limited', ['get', 'create', 'update'])
    await granted(store)
  })

  it('403 for a review of the permission, or no clear answer: a claim is granted', async () => {
    const server = await startServer()
    for (const reply of [
      { status: 403, body: 'no' },
      { status: 201, body: {} },
      { status: 404, body: '404 page not found' },
    ]) {
      server.disturb = ({ path }) => (path.includes('selfsubject') ? { reply } : undefined)
      await granted(await openStore(server.port), { name: `job-${reply.status}` })
    }
  })

  it('asks once whether leases can be renewed, if that is granted for all of them', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    for (const name of ['a', 'b', 'c']) await granted(store, { name })
    const reviews = server.requests.filter(({ path }) => path.includes('selfsubjectaccessreviews'))
    expect(reviews.map(({ body }) => body.spec)).toEqual([
      {
        resourceAttributes: {
          namespace: 'default',
          verb: 'update',
          group: 'coordination.k8s.io',
          resource: 'leases',
        },
      },
    ])
  })

  it('409 for another reason than an existing object: a claim rejects', async () => {
    const server = await startServer()
    const body = { kind: 'Status', status: 'Failure', reason: 'Conflict', message: 'the quota was changed', code: 409 }
    server.disturb = ({ method, path }) =>
      method === 'POST' && path.endsWith('/leases') ? { reply: { status: 409, body } } : undefined
    await expect(granted(await openStore(server.port))).rejects.toThrow('answered 409: the quota was changed')
  })

  const isForbidden = 'leases.coordination.k8s.io "job" is forbidden: '
  const terminating = `${isForbidden}unable to create new content in namespace default because it is being terminated`
  const causes = [{ reason: 'NamespaceTerminating', message: 'it is being terminated', field: 'metadata.namespace' }]
  const quota = `${isForbidden}exceeded quota: few, requested: count/leases=1, used: count/leases=5, limited: count/leases=5`
  const policy = `${isForbidden}ValidatingAdmissionPolicy 'no-leases' with binding 'all' denied request: not here`
  const webhook = 'admission webhook "no.leases.dev" denied the request: leases are frozen'

  it.each([
    ['403 of a webhook', failure(403, 'Forbidden', webhook), 'unauthorised', 'an admission webhook or policy'],
    ['400 of a webhook', failure(400, 'BadRequest', webhook), 'unauthorised', 'an admission webhook or policy'],
    ['403 of a policy', failure(403, 'Forbidden', policy), 'unauthorised', 'an admission webhook or policy'],
    ['422 of a policy', failure(422, 'Invalid', policy), 'unauthorised', 'an admission webhook or policy'],
    [
      '403 of a namespace that is being deleted',
      failure(403, 'Forbidden', 'gone soon', { causes }),
      'configuration',
      "namespace 'default' is being deleted",
    ],
    [
      '403 of a namespace that an old server deletes',
      failure(403, 'Forbidden', terminating),
      'configuration',
      "namespace 'default' is being deleted",
    ],
    [
      '403 of a quota',
      failure(403, 'Forbidden', quota),
      'configuration',
      "the quota of namespace 'default' is used up",
    ],
    [
      '403 of another admission plugin',
      failure(403, 'Forbidden', `${isForbidden}not on this node`),
      'unauthorised',
      'an admission plugin of the API server refuses to create',
    ],
    [
      '403 of a proxy',
      { status: 403, body: '<h1>Forbidden</h1>' },
      'unauthorised',
      'from a proxy or gateway before it',
    ],
  ])('%s: no Role cures it, and the message says who refused', async (_, reply, code, text) => {
    const server = await startServer()
    const isCreation = ({ method, path }: { method: string; path: string }) =>
      method === 'POST' && path.endsWith('/leases')
    server.disturb = (request) => (isCreation(request) ? { reply } : undefined)
    const store = await openStore(server.port)
    for (const asking of [store.acquire(claim, call), store.checkAccess('job')]) {
      const error = await asking.catch((error: unknown) => error)
      expect(error).toMatchObject({ code, leaseName: 'job' })
      const { message } = error as Error
      expect(message).toContain(text)
      const { body } = reply
      expect(message).toContain(typeof body === 'string' ? body : (body as { message: string }).message)
      expect(message).not.toContain('Role')
    }
  })

  it('403 of a proxy for a read is not called a missing permission by the check at the start', async () => {
    const server = await startServer()
    always(server, 'GET', { status: 403, body: 'blocked' })
    await expect((await openStore(server.port)).checkAccess('job')).rejects.toThrow('from a proxy or gateway before it')
  })

  it('403 with a hint of the cluster is a missing permission all the same', async () => {
    const server = await startServer()
    const cannot =
      'User "me" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "default"'
    const hint = ': requires one of ["container.leases.get"] permission(s).'
    always(server, 'GET', failure(403, 'Forbidden', isForbidden + cannot + hint))
    await expect((await openStore(server.port)).read('job', call)).rejects.toThrow("the verb 'get'")
  })

  it('404 of the namespace at a heartbeat: the object may still exist', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    server.disturb = ({ method }) => (method === 'PUT' ? { reply: noNamespace('default') } : undefined)
    await expect(store.renew(grant, call)).rejects.toThrow("namespace 'default' does not exist")
  })

  it('403 for update: a heartbeat rejects', async () => {
    const server = await startServer()
    const grant = await granted(await openStore(server.port))
    server.tokens.set('limited', ['get', 'create'])
    const store = await openStore(server.port, { token: 'limited' })
    await expect(store.renew(grant, call)).rejects.toThrow("the verb 'update'")
  })

  it('404 in plain text: the CRD is missing; names the manifest to apply', async () => {
    const server = await startServer()
    server.kinds.delete(akkaLeases)
    const store = await openStore(server.port, { layout: 'akka' })
    await expect(store.acquire(claim, call)).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(store.acquire(claim, call)).rejects.toThrow(
      'does not know leases.akka.io: apply the manifest that this package ships, kubectl apply -f ' +
        'node_modules/@leasehold/kubernetes/manifests/leases.akka.io.yaml',
    )
  })

  it('404 of the namespace: asks to create it', async () => {
    const server = await startServer()
    const store = await openStore(server.port, { namespace: 'nowhere' })
    const claimed = store.acquire(claim, call)
    await expect(claimed).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining("'nowhere'"),
    })
  })

  it.each([
    [400, 'BadRequest'],
    [422, 'Invalid'],
    [413, 'RequestEntityTooLarge'],
  ])('%d: the object is refused, with what the server says', async (code, reason) => {
    const server = await startServer()
    always(server, 'POST', failure(code, reason, 'annotations: Too long'))
    const store = await openStore(server.port)
    const message = `rejects the object (${code}): annotations: Too long`
    await expect(store.acquire(claim, call)).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining(message),
    })
  })

  it.each([
    [500, failure(500, undefined, 'etcdserver: leader changed').body],
    [502, 'Bad Gateway\n'],
    [503, '<html>'],
    [307, ''],
    [410, failure(410, 'Expired', 'too old').body],
  ])('%d: unknown, to be tried again', async (status, body) => {
    const server = await startServer()
    const headers = { location: 'https://127.0.0.1:1/', 'retry-after': '3' }
    always(server, 'GET', { status, body, headers })
    const store = await openStore(server.port)
    const failure = store.acquire(claim, call)
    await expect(failure).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(failure).rejects.toMatchObject({ retryAfter: 3_000 })
    expect(methods(server)).toEqual(['GET'])
  })

  it('200 without an object: unknown', async () => {
    const server = await startServer()
    always(server, 'GET', { status: 200, body: '<html>captive portal</html>' })
    const store = await openStore(server.port)
    await expect(store.acquire(claim, call)).rejects.toThrow('the answer is not an object: <html>captive portal')
  })
})

describe('an answer that another writer was faster', () => {
  it.each([
    ['409 AlreadyExists', 'POST', failure(409, 'AlreadyExists', 'it already exists')],
    ['409 Conflict', 'PUT', failure(409, 'Conflict', 'the object has been modified')],
    [
      '422 for a version that is missing',
      'PUT',
      failure(422, 'Invalid', 'must be specified for an update', { causes: [{ field: 'metadata.resourceVersion' }] }),
    ],
  ])('%s: the object is read again', async (_, method, reply) => {
    const server = await startServer()
    const store = await openStore(server.port)
    if (method === 'PUT') await store.release(await granted(store), call)
    once(server, method, { reply })
    await granted(store)
  })

  it('409 Conflict for a creation does not count as one', async () => {
    const server = await startServer()
    always(server, 'POST', failure(409, 'Conflict', 'being deleted'))
    await expect(granted(await openStore(server.port))).rejects.toBeInstanceOf(LeaseUnavailableError)
  })
})

describe('an answer that asks for a pause', () => {
  it.each([
    ['Retry-After', { 'retry-after': '7' }, 7_000],
    ['no word of how much', {}, 1_000],
    ['Retry-After of nothing', { 'retry-after': '0' }, 100],
  ])('429 with %s is waited out, within the time limit', async (_, headers, patience) => {
    const server = await startServer()
    const clock = new VirtualClock()
    const store = await openStore(server.port, { clock })
    once(server, 'GET', { reply: { status: 429, body: 'Too many requests, please try again later.\n', headers } })
    const claimed = granted(store)
    await vi.waitFor(() => expect(clock.pending).toBe(1), 10_000)
    await clock.advance(patience - 1)
    expect(methods(server)).toEqual(['GET'])
    await clock.advance(1)
    await claimed
    // The second GET, the review of the permission to renew, the creation.
    expect(methods(server)).toEqual(['GET', 'GET', 'POST', 'POST'])
  })

  it('429 that does not end within half of the time limit is the reason of the failure, with the pause', async () => {
    const server = await startServer()
    const clock = new VirtualClock()
    const store = await openStore(server.port, { clock })
    const text = 'Too many requests, please try again later.\n'
    always(server, 'GET', { status: 429, body: text, headers: { 'retry-after': '2' } })
    const claimed = store.acquire(claim, new AbortableCall(5_000)).catch((error: unknown) => error)
    await vi.waitFor(() => expect(clock.pending).toBe(1), 10_000)
    await clock.advance(2_000)
    const error = await claimed
    expect(error).toBeInstanceOf(LeaseUnavailableError)
    expect(error).toMatchObject({ retryAfter: 2_000, message: expect.stringContaining('limits the requests of this') })
    expect(methods(server)).toEqual(['GET', 'GET'])
    expect(clock.pending).toBe(0)
  })

  it('429 is what a lease reports, not a time-out', async () => {
    const server = await startServer()
    always(server, 'GET', { status: 429, body: '', headers: { 'retry-after': '60' } })
    const lease = createLease(await openStore(server.port), 'job', { logger: silentLogger })
    await expect(lease.acquire()).rejects.toThrow('limits the requests of this client, or is overloaded (429)')
  })

  it('429 without a time limit ends when the call does, and leaves no timer', async () => {
    const server = await startServer()
    const clock = new VirtualClock()
    const store = await openStore(server.port, { clock })
    always(server, 'GET', { status: 429, body: '', headers: { 'retry-after': '60' } })
    const limit = new AbortableCall()
    const claimed = store.acquire(claim, limit)
    await vi.waitFor(() => expect(clock.pending).toBe(1), 10_000)
    limit.abort(new Error('time is up'))
    await expect(claimed).rejects.toThrow('time is up')
    expect(clock.pending).toBe(0)
  })
})

describe('an answer without an outcome', () => {
  const cases: [string, Disturbance][] = [
    ['504', { reply: failure(504, 'Timeout', 'request did not complete'), applied: true }],
    ['504', { reply: failure(504, 'Timeout', 'request did not complete') }],
    ['a connection that is reset', { drop: true, applied: true }],
    ['a connection that is reset', { drop: true }],
  ]

  it.each(cases)('%s: a heartbeat is unknown, and settled by the next (%j)', async (_, disturbance) => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    // On its own connection, because requests on a kept one are repeated.
    server.closeConnections()
    await vi.waitFor(() => expect(server.connections).toBe(0))
    once(server, 'PUT', disturbance)
    await expect(store.renew(grant, call)).rejects.toThrow('The request may have been applied')
    server.requests.length = 0
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    const isApplied = 'applied' in disturbance
    expect(methods(server)).toEqual(isApplied ? ['PUT', 'GET', 'PUT'] : ['PUT'])
    expect((await store.read('job', call))?.fencingToken).toBe(grant.fencingToken)
  })

  it.each(cases)('%s: an acquisition is settled by asking again, under the same token (%j)', async (_, disturbance) => {
    const server = await startServer()
    const store = await openStore(server.port)
    once(server, 'POST', disturbance)
    const first = await store.acquire(claim, call).catch((error: unknown) => error)
    const made = server.get(leases, 'job')?.metadata.resourceVersion
    const grant = await granted(store, { grantId: 'g' })
    expect(server.get(leases, 'job')?.spec?.leaseTransitions).toBe(0)
    if (first instanceof Error) {
      expect(first).toBeInstanceOf(LeaseUnavailableError)
      if (made !== undefined) expect(grant.fencingToken).toBe(BigInt(made))
    } else {
      // On a connection that was kept it was repeated at once, and is the same grant.
      expect(first).toEqual({ granted: true, grant })
    }
  })
})
