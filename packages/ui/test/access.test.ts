import { createLease, readLease } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import type { UiUser } from '../src/lease-ui-options.js'
import { change, errorOf, type OpenUi, openUi, Page, pass, request, TOKEN } from './support/open-ui.js'

async function held(open: OpenUi, name = 'orders') {
  const lease = createLease(open.store, name, { owner: 'worker-1', clock: open.clock })
  await lease.acquire()
  return { lease, ask: { name, token: String(lease.fencingToken), period: 0, reason: 'it hangs' } }
}

describe('reading', () => {
  it.each(['/api/events', '/api/lease?name=orders'])('%s needs the token', async (path) => {
    const open = openUi()
    await held(open)
    for (const authorization of ['', 'Bearer ', `Bearer ${TOKEN}x`, TOKEN, `Basic ${TOKEN}`, `bearer ${TOKEN}`]) {
      const response = await open.ui.fetch(request(path, { headers: { authorization } }))
      expect(response.status).toBe(401)
      expect(await errorOf(response)).toMatchObject({ code: 'access' })
    }
    const right = await open.ui.fetch(request(path))
    expect(right.status).toBe(200)
    await right.body?.cancel()
    await open.ui.close()
  })

  it('does not begin to look at the store for those without access', async () => {
    const open = openUi()
    let asked = 0
    const { list } = open.store
    open.store.list = (...given) => {
      asked += 1
      return list?.apply(open.store, given) as never
    }
    await open.ui.fetch(request('/api/events', { headers: { authorization: '' } }))
    await open.ui.fetch(request('/'))
    await pass(open, 60_000)
    expect(asked).toBe(0)
    await open.ui.close()
  })

  it('asks the host about each request, also about the files of the page', async () => {
    const users: (UiUser | undefined)[] = [undefined, { access: 'read', name: 'Ada' }]
    const open = openUi({ authorize: async () => users.shift() })
    expect((await open.ui.fetch(request('/'))).status).toBe(401)
    expect((await open.ui.fetch(request('/'))).status).toBe(200)
    expect((await open.ui.fetch(request('/api/events'))).status).toBe(401)
    await open.ui.close()
  })

  it('is refused if authorize throws, and its message is not logged', async () => {
    const open = openUi({
      authorize: ({ header }) => {
        throw new Error(`cannot decode ${header('authorization')}`)
      },
    })
    for (const path of ['/', '/api/events', '/api/lease?name=a']) {
      const response = await open.ui.fetch(request(path))
      expect(response.status).toBe(500)
      expect(await response.text()).not.toContain(TOKEN)
    }
    expect(open.logged.join()).toContain('authorize failed with Error')
    expect(open.logged.join()).toContain('access.test.ts')
    expect(open.logged.join()).not.toContain(TOKEN)
    await open.ui.close()
  })

  it.each([null, 'write', {}, { access: 'admin' }, { access: 'read', name: 7 }, true])(
    'is refused if authorize returns %j',
    async (answer) => {
      const open = openUi({ authorize: () => answer as never })
      expect((await open.ui.fetch(request('/api/events'))).status).toBe(500)
      await open.ui.close()
    },
  )

  it('is refused if authorize does not answer in time', async () => {
    const open = openUi({ authorize: () => new Promise(() => {}), timeout: 2_000 })
    const asking = open.ui.fetch(request('/api/events'))
    await pass(open, 2_000)
    expect((await asking).status).toBe(500)
    await open.ui.close()
  })

  it('ends within two minutes after the reader has signed out', async () => {
    let user: UiUser | undefined = { access: 'read', name: 'Ada' }
    const open = openUi({ authorize: () => user })
    const page = await Page.open(open)
    await pass(open, 180_000)
    expect(page.isOver).toBe(false)
    user = undefined
    await pass(open, 120_000)
    expect(page.isOver).toBe(true)
    await open.ui.close()
  })
})

describe('a change', () => {
  it('breaks the lease that the reader saw, with the reason and its author', async () => {
    const open = openUi({ authorize: () => ({ access: 'write', name: 'Ada' }) })
    const { lease, ask } = await held(open)
    const page = await Page.open(open)
    expect((await open.ui.fetch(change('/api/break', ask, page.hello))).status).toBe(200)
    await pass(open, 10)
    expect(page.rows.get('orders')).toMatchObject({ state: 'broken' })
    const record = await readLease(open.store, 'orders', { clock: open.clock })
    expect(record?.metadata.breakReason).toBe('it hangs (by Ada)')
    await lease.release().catch(() => {})
    await open.ui.close()
  })

  it('is refused for those who may only read, also if they could change something before', async () => {
    let access: UiUser['access'] = 'write'
    const open = openUi({ authorize: () => ({ access }) })
    const { ask } = await held(open)
    const page = await Page.open(open)
    access = 'read'
    const pause = { name: 'orders', action: 'pause', reason: 'x' }
    for (const asked of [change('/api/break', ask, page.hello), change('/api/schedule', pause, page.hello)]) {
      const response = await open.ui.fetch(asked)
      expect(response.status).toBe(403)
      expect((await errorOf(response)).message).toContain('you may look')
    }
    await expectHeld(open)
    await open.ui.close()
  })

  it('is refused with a token, unless the page is writable', async () => {
    const open = openUi()
    const { ask } = await held(open)
    const { changeToken } = (await Page.open(openUi({ writable: true }))).hello
    expect(
      (await open.ui.fetch(change('/api/break', ask, changeToken === undefined ? {} : { changeToken }))).status,
    ).toBe(403)
    await expectHeld(open)
    await open.ui.close()
  })

  const attacks: [string, (request: Request) => Request][] = [
    ['of another site', (asked) => withHeader(asked, 'sec-fetch-site', 'cross-site')],
    ['of another host of the same site', (asked) => withHeader(asked, 'sec-fetch-site', 'same-site')],
    ['that the address bar sends', (asked) => withHeader(asked, 'sec-fetch-site', 'none')],
    ['of another origin, in an old browser', (asked) => from(asked, 'http://evil.test')],
    ['of another port, in an old browser', (asked) => from(asked, 'http://page.test:81')],
    ['of a frame without an origin, in an old browser', (asked) => from(asked, 'null')],
    ['without any origin', (asked) => withHeader(asked, 'sec-fetch-site', undefined)],
    ['without a change token', (asked) => withHeader(asked, 'x-leasehold-change', undefined)],
    ['with the access token as the change token', (asked) => withHeader(asked, 'x-leasehold-change', TOKEN)],
    ['without the access token', (asked) => withHeader(asked, 'authorization', undefined)],
    ['as a form', (asked) => withHeader(asked, 'content-type', 'application/x-www-form-urlencoded')],
    ['as plain text', (asked) => withHeader(asked, 'content-type', 'text/plain')],
  ]

  it.each(attacks)('%s is refused', async (_, attack) => {
    const open = openUi({ writable: true })
    const { lease, ask } = await held(open)
    const page = await Page.open(open)
    const response = await open.ui.fetch(attack(change('/api/break', ask, page.hello)))
    expect([401, 403, 415]).toContain(response.status)
    await expectHeld(open)
    // The same request is accepted if it comes from the page.
    expect((await open.ui.fetch(change('/api/break', ask, page.hello))).status).toBe(200)
    await lease.release().catch(() => {})
    await open.ui.close()
  })

  it('of the same origin is accepted from an old browser', async () => {
    const open = openUi({ writable: true })
    const { ask } = await held(open)
    const page = await Page.open(open)
    const response = await open.ui.fetch(from(change('/api/break', ask, page.hello), 'http://page.test'))
    expect(response.status).toBe(200)
    await open.ui.close()
  })

  it('with the change token of another user is refused', async () => {
    const open = openUi({
      authorize: ({ header }) => ({ access: 'write', name: header('x-user') ?? 'Ada' }),
    })
    const { ask } = await held(open)
    const page = await Page.open(open)
    const response = await open.ui.fetch(change('/api/break', ask, page.hello, { 'x-user': 'Bob' }))
    expect(response.status).toBe(403)
    await expectHeld(open)
    await open.ui.close()
  })

  it.each([
    ['a random text that all share', 200, { secret: 'one secret of all processes' }],
    ['none', 403, {}],
  ])('from the page of another process is answered with %s: %i', async (_, status, shared) => {
    const authorize = () => ({ access: 'write', name: 'Ada' }) as const
    const open = openUi({ authorize, ...shared })
    const other = openUi({ authorize, ...shared }, open)
    const { ask } = await held(open)
    const page = await Page.open(other)
    const response = await open.ui.fetch(change('/api/break', ask, page.hello))
    expect(response.status).toBe(status)
    if (status === 403) expect((await errorOf(response)).message).toContain('the same secret in all processes')
    await Promise.all([open.ui.close(), other.ui.close()])
  })

  it('breaks nothing if there is another holder by now', async () => {
    const open = openUi({ writable: true })
    const { lease, ask } = await held(open)
    const page = await Page.open(open)
    await lease.release()
    await createLease(open.store, 'orders', { owner: 'worker-2', clock: open.clock }).acquire()
    const response = await open.ui.fetch(change('/api/break', ask, page.hello))
    expect(response.status).toBe(409)
    expect(await errorOf(response)).toMatchObject({ code: 'changed' })
    await expectHeld(open)
    await open.ui.close()
  })

  it('breaks nothing if the holder changes while the record is read', async () => {
    const open = openUi({ writable: true })
    const { lease, ask } = await held(open)
    const page = await Page.open(open)
    const broken = open.store.break?.bind(open.store)
    open.store.break = async (...given) => {
      await lease.release()
      await createLease(open.store, 'orders', { owner: 'worker-2', clock: open.clock }).acquire()
      return (await broken?.(...given)) as never
    }
    const response = await open.ui.fetch(change('/api/break', ask, page.hello))
    expect(response.status).toBe(409)
    await expectHeld(open)
    await open.ui.close()
  })

  it.each([
    { period: -1 },
    { period: '0' },
    { period: null },
    { reason: '' },
    { reason: ' ' },
    { reason: 'x'.repeat(501) },
    { reason: 7 },
    { token: 1 },
    { name: '' },
    { name: 'x'.repeat(1_025) },
    { name: '\ud800' },
  ])('with %j is refused', async (wrong) => {
    const open = openUi({ writable: true })
    const { ask } = await held(open)
    const page = await Page.open(open)
    expect((await open.ui.fetch(change('/api/break', { ...ask, ...wrong }, page.hello))).status).toBe(400)
    await expectHeld(open)
    await open.ui.close()
  })

  it('cannot reach a name outside of the prefix', async () => {
    const open = openUi({ writable: true, prefix: 'shop/' })
    const { ask } = await held(open)
    const page = await Page.open(open)
    expect((await open.ui.fetch(change('/api/break', ask, page.hello))).status).toBe(404)
    expect((await open.ui.fetch(request('/api/lease?name=orders'))).status).toBe(404)
    expect((await open.ui.fetch(request('/api/events?watch=orders'))).status).toBe(404)
    const pause = { name: 'orders', action: 'pause', reason: 'x' }
    expect((await open.ui.fetch(change('/api/schedule', pause, page.hello))).status).toBe(404)
    await expectHeld(open)
    await open.ui.close()
  })

  it('with a body that is too large, no JSON or no object is refused', async () => {
    const open = openUi({ writable: true })
    const page = await Page.open(open)
    const statusOf = async (body: string) => {
      const asked = change('/api/break', {}, page.hello)
      return (await open.ui.fetch(new Request(asked, { body }))).status
    }
    expect(await statusOf(JSON.stringify({ reason: 'x'.repeat(16_384) }))).toBe(413)
    for (const body of ['', '{', '[]', 'null', '7', '"x"']) expect(await statusOf(body)).toBe(400)
    await open.ui.close()
  })
})

async function expectHeld({ store, clock }: OpenUi): Promise<void> {
  expect(await readLease(store, 'orders', { clock })).toMatchObject({ state: 'leased' })
}

function withHeader(asked: Request, name: string, value: string | undefined): Request {
  const copy = new Request(asked)
  if (value === undefined) copy.headers.delete(name)
  else copy.headers.set(name, value)
  return copy
}

/** As a browser without `sec-fetch-site` sends it. */
function from(asked: Request, origin: string): Request {
  return withHeader(withHeader(asked, 'sec-fetch-site', undefined), 'origin', origin)
}
