import { request } from 'node:https'
import { expect, it } from 'vitest'

/** A server that answers requests of an administrator. */
export interface WireServer {
  readonly port: () => number
}

interface Answer {
  readonly status: number
  readonly body: {
    readonly [field: string]: unknown
    readonly metadata?: Record<string, string>
    readonly spec?: object
  }
}

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const TIME = '2026-01-02T03:04:05.123456Z'

/** One request, and all that an unfinished answer has sent. */
function ask(server: WireServer, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: 'Bearer admin', 'content-type': 'application/json' }
  const options = { host: '127.0.0.1', port: server.port(), method, path, headers, agent: false as const }
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, rejectUnauthorized: false }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      const lines = text.split('\n').filter((line) => line !== '')
      const isStream = path.includes('watch=1')
      resolve({
        status: response.statusCode ?? 0,
        body: isStream
          ? { events: lines.map((line) => JSON.parse(line)) }
          : text.startsWith('{')
            ? JSON.parse(text)
            : { text },
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/**
 * The behaviour of an API server that the store relies on: they run on the test server, and on a real one where
 * there is one, so that the former answers as the latter does.
 */
export function describeWire(server: WireServer): void {
  let names = 0
  const lease = (name: string, spec: object = {}, metadata: object = {}): object => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, ...metadata },
    spec,
  })
  const fresh = (): string => {
    names += 1
    return `wire-${names}`
  }
  const post = (body: object) => ask(server, 'POST', LEASES, body)
  const put = (name: string, body: object) => ask(server, 'PUT', `${LEASES}/${name}`, body)
  const get = (name: string) => ask(server, 'GET', `${LEASES}/${name}`)
  const remove = (name: string) => ask(server, 'DELETE', `${LEASES}/${name}`)
  const made = async (spec: object = {}): Promise<{ name: string; object: Answer['body'] }> => {
    const name = fresh()
    const { status, body } = await post(lease(name, spec))
    expect(status).toBe(201)
    return { name, object: body }
  }

  it('a missing object is a 404 with a reason, a missing kind one in plain text, a missing namespace one of its own', async () => {
    expect(await get(fresh())).toMatchObject({ status: 404, body: { reason: 'NotFound', details: { kind: 'leases' } } })
    const unknown = await ask(server, 'GET', '/apis/no.such.group/v1/namespaces/default/leases/x')
    expect(unknown).toEqual({ status: 404, body: { text: '404 page not found\n' } })
    const nowhere = await ask(server, 'POST', LEASES.replace('default', 'nowhere'), lease(fresh()))
    expect(nowhere).toMatchObject({ status: 404, body: { reason: 'NotFound', details: { kind: 'namespaces' } } })
  })

  it('a creation of an existing object is AlreadyExists, a write over another version Conflict', async () => {
    const { name, object } = await made({ holderIdentity: 'a' })
    expect(await post(lease(name))).toMatchObject({ status: 409, body: { reason: 'AlreadyExists' } })
    expect((await put(name, { ...object, spec: { holderIdentity: 'b' } })).status).toBe(200)
    const stale = await put(name, { ...object, spec: { holderIdentity: 'c' } })
    expect(stale).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
  })

  it('a PUT of a missing object creates it, with any version; with the uid of the old object it does not', async () => {
    const { name, object } = await made()
    await remove(name)
    expect(await put(name, object)).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
    const { resourceVersion } = object.metadata ?? {}
    expect((await put(name, lease(name, {}, { resourceVersion }))).status).toBe(201)
  })

  it('a PUT without a version is invalid, and of many at once one makes the object', async () => {
    const { name } = await made()
    const refused = await put(name, lease(name, { holderIdentity: 'b' }))
    expect(refused).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'metadata.resourceVersion' }] } },
    })
    const other = fresh()
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, place) => put(other, lease(other, { leaseTransitions: place }))),
    )
    const statuses = all.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(201)
    expect(statuses.slice(1).every((status) => status === 422 || status === 409)).toBe(true)
  })

  it('a PUT that changes nothing keeps the version; others make it grow, over deletions too', async () => {
    const { name, object } = await made({ renewTime: TIME })
    const same = await put(name, object)
    expect(same.body.metadata?.resourceVersion).toBe(object.metadata?.resourceVersion)
    await remove(name)
    const again = await post(lease(name))
    expect(BigInt(again.body.metadata?.resourceVersion ?? 0)).toBeGreaterThan(
      BigInt(object.metadata?.resourceVersion ?? 0),
    )
    expect(again.body.metadata?.uid).not.toBe(object.metadata?.uid)
  })

  it('a PUT keeps labels and annotations that are sent back, and drops fields that are not', async () => {
    const { name, object } = await made({ holderIdentity: 'a', leaseTransitions: 3 })
    const metadata = { ...object.metadata, labels: { app: 'x' }, annotations: { note: 'y' } }
    const { body } = await put(name, { ...object, metadata, spec: { holderIdentity: '' } })
    expect(body).toMatchObject({
      metadata: { labels: { app: 'x' }, annotations: { note: 'y' } },
      spec: { holderIdentity: '' },
    })
    expect(body.spec).not.toHaveProperty('leaseTransitions')
  })

  it.each([
    ['2026-01-02T03:04:05.123456Z', 201],
    ['9999-12-31T23:59:59.999999Z', 201],
    ['2026-01-02T03:04:05.123Z', 400],
    ['2026-01-02T03:04:05Z', 400],
    ['2026-01-02T03:04:05.123456', 400],
    ['2026-02-30T03:04:05.123456Z', 400],
    ['', 400],
    [7, 400],
  ])('a renewTime of %j is answered %d', async (renewTime, status) => {
    expect((await post(lease(fresh(), { renewTime }))).status).toBe(status)
  })

  it.each([
    [{ leaseDurationSeconds: 0 }, 422],
    [{ leaseDurationSeconds: -1 }, 422],
    [{ leaseDurationSeconds: 1.5 }, 400],
    [{ leaseDurationSeconds: 2 ** 31 }, 400],
    [{ leaseDurationSeconds: 2 ** 31 - 1 }, 201],
    [{ leaseTransitions: -1 }, 422],
    [{ holderIdentity: 7 }, 400],
    [{ holderIdentity: '' }, 201],
  ])('a spec of %j is answered %d', async (spec, status) => {
    expect((await post(lease(fresh(), spec))).status).toBe(status)
  })

  it.each([
    ['x'.repeat(253), 201],
    ['x'.repeat(254), 422],
    ['a.b-c', 201],
    ['a_b', 422],
    ['A', 422],
    ['a..b', 422],
  ])('a name of %s is answered %d', async (name, status) => {
    expect((await post(lease(name))).status).toBe(status)
  })

  it('a dry run makes nothing', async () => {
    const name = fresh()
    expect((await ask(server, 'POST', `${LEASES}?dryRun=All`, lease(name))).status).toBe(201)
    expect((await get(name)).status).toBe(404)
  })

  it('a watch yields the creation, changes and deletion of one object after a version', async () => {
    const { name, object } = await made({ holderIdentity: 'a' })
    await put(name, { ...object, spec: { holderIdentity: 'b' } })
    await made()
    await remove(name)
    const { resourceVersion = '' } = object.metadata ?? {}
    const query = `watch=1&fieldSelector=metadata.name%3D${name}&resourceVersion=${resourceVersion}&timeoutSeconds=1`
    const { status, body } = await ask(server, 'GET', `${LEASES}?${query}`)
    expect(status).toBe(200)
    const events = body.events as { type: string; object: { metadata: Record<string, string>; spec: object } }[]
    expect(events.map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED'])
    expect(events.map((event) => event.object.spec)).toEqual([{ holderIdentity: 'b' }, { holderIdentity: 'b' }])
    const versions = events.map((event) => BigInt(event.object.metadata.resourceVersion ?? 0))
    expect(versions[1]).toBeGreaterThan(versions[0] ?? 0n)
  })

  it('a watch without a version begins with the object as it is', async () => {
    const { name } = await made({ holderIdentity: 'a' })
    const query = `watch=1&fieldSelector=metadata.name%3D${name}&timeoutSeconds=1`
    const { body } = await ask(server, 'GET', `${LEASES}?${query}`)
    expect(body.events).toMatchObject([
      { type: 'ADDED', object: { metadata: { name }, spec: { holderIdentity: 'a' } } },
    ])
  })

  it('a review answers which verbs are granted', async () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const resourceAttributes = {
      namespace: 'default',
      verb: 'update',
      group: 'coordination.k8s.io',
      resource: 'leases',
    }
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    }
    expect(await ask(server, 'POST', path, body)).toMatchObject({ status: 201, body: { status: { allowed: true } } })
  })
}
