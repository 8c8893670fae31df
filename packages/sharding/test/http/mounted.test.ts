import { once } from 'node:events'
import { createServer, type RequestListener, type Server, request as sendRequest } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { type HttpTransport, httpTransport } from '@leasehold/sharding'
import { VirtualClock } from '@leasehold/testkit'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, test } from 'vitest'
import { mountInExpress, mountInFastify, mountInHono } from '../readme/mounting.js'
import { accepted, accepting, batchOf, event, forever, outcomeOf } from './support/batches.js'

/** The part of Express that these tests use. */
interface ExpressApp extends RequestListener {
  use(...handlers: readonly unknown[]): void
  get(path: string, handler: (request: unknown, response: { send(text: string): void }) => void): void
}

const express = createRequire(import.meta.url)('express') as {
  (): ExpressApp
  json(options?: object): unknown
}

const servers: { close(done: () => void): unknown }[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise<void>((resolve) => server.close(resolve))))
})

const ADDRESS = 'http://127.0.0.1:1/internal'

interface Mounted {
  readonly transport: HttpTransport
  /** Where the server of the user listens. */
  readonly origin: string
}

const secret = 'shared'

/** A transport without a server of its own, in a server that the user has. */
async function mount(start: (transport: HttpTransport) => Promise<Server>): Promise<Mounted> {
  const transport = httpTransport({ address: ADDRESS, listen: false, secret, bodyLimit: 2_000_000 })
  const server = await start(transport)
  servers.push(server)
  return { transport, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function listening(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const kinds: Readonly<Record<string, (transport: HttpTransport) => Promise<Server>>> = {
  'node:http': (transport) => listening(transport.handler),
  'Express, below a path': (transport) => {
    const app = express()
    app.use('/internal', transport.handler)
    app.get('/', (_, response) => response.send('own page'))
    return listening(app)
  },
  'Express, after a parser of JSON': (transport) => {
    const app = express()
    app.use(express.json())
    mountInExpress(app, transport)
    app.get('/', (_, response) => response.send('own page'))
    return listening(app)
  },
  'Express, after a parser of everything': (transport) => {
    const app = express()
    app.use(express.json({ type: () => true, limit: '10mb' }))
    app.use(transport.handler)
    app.get('/', (_, response) => response.send('own page'))
    return listening(app)
  },
  Fastify: async (transport) => {
    const app = fastify()
    mountInFastify(app, transport)
    app.get('/', async () => 'own page')
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  },
  Hono: async (transport) => {
    const app = new Hono()
    mountInHono(app.basePath('/internal'), transport)
    app.get('/', (context) => context.text('own page'))
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
    if (!server.listening) await once(server, 'listening')
    return server
  },
}

describe.each(Object.entries(kinds))('in a server of %s', (kind, start) => {
  test('batches arrive, and are answered', async () => {
    const { transport, origin } = await mount(start)
    expect(transport.address).toBe(ADDRESS)
    const { batches, handler } = accepting()
    await transport.listen('accounts', handler)
    const sender = httpTransport({ address: ADDRESS, listen: false, secret })
    const large = batchOf([event('a', 'ä'.repeat(200_000)), event('b')])
    for (const batch of [batchOf([event('a')]), large, batchOf([event('c')])]) {
      expect(await sender.send(`${origin}/internal`, batch, forever)).toEqual(batch.messages.map(() => accepted))
    }
    expect(batches.flatMap(({ messages }) => messages)).toEqual([event('a'), ...large.messages, event('c')])
    await transport.close('accounts')
  })

  test('wrong requests are refused', async () => {
    const { transport, origin } = await mount(start)
    const { batches, handler } = accepting()
    await transport.listen('accounts', handler)
    const send = (options: object, region = 'accounts') => {
      const sender = httpTransport({ address: ADDRESS, listen: false, secret, ...options })
      return outcomeOf(sender.send(`${origin}/internal`, batchOf([event('a', 'x'.repeat(10_000))], region), forever))
    }
    expect((await send({ secret: 'wrong' }))[1]).toContain('it answered 401')
    expect((await send({}, 'carts'))[1]).toContain('it answered 404')
    await transport.close('accounts')
    expect((await send({}))[1]).toContain('it answered 404')
    expect(batches).toEqual([])
  })

  test('the other paths are those of the user', async () => {
    const { origin } = await mount(start)
    const response = await fetch(`${origin}/`)
    if (kind === 'node:http') expect(response.status).toBe(401)
    else expect(await response.text()).toBe('own page')
  })
})

describe('whatever is sent', () => {
  async function open(options: { readonly clock?: VirtualClock } = {}) {
    const transport = httpTransport({ address: ADDRESS, listen: false, bodyLimit: 10_000, ...options })
    const { batches, handler } = accepting()
    await transport.listen('accounts', handler)
    const post = async (body: string | ReadableStream | null, path = '/leasehold-sharding/accounts') => {
      const response = await transport.fetch(
        new Request(`http://host${path}`, { method: 'POST', body, duplex: 'half' } as RequestInit),
      )
      return [response.status, await response.text()] as const
    }
    return { transport, batches, post }
  }

  const good = batchOf([event('a')])
  const withMessage = (message: unknown) => ({ ...good, messages: [message] })
  const answer = { kind: 'answer', question: 1 }

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', [good]],
    ['a text', 'batch'],
    ['no region', { ...good, region: undefined }],
    ['the region of another path', { ...good, region: 'carts' }],
    ['no shards', { ...good, shards: 0 }],
    ['half a shard', { ...good, shards: 1.5 }],
    ['no sender', { ...good, sender: null }],
    ['a sender without an address', { ...good, sender: { owner: 'a' } }],
    ['a sender without an owner', { ...good, sender: { address: 'a' } }],
    ['no run', { ...good, run: undefined }],
    ['a negative sequence', { ...good, sequence: -1 }],
    ['no list of messages', { ...good, messages: { length: 1 } }],
    ['no message', withMessage(null)],
    ['another kind', withMessage({ ...event('a'), kind: 'other' })],
    ['a shard that there is not', withMessage({ ...event('a'), shard: 8 })],
    ['a shard that is a text', withMessage({ ...event('a'), shard: '1' })],
    ['an entity without a name', withMessage({ ...event('a'), entity: 7 })],
    ['no event', withMessage({ ...event('a'), event: undefined })],
    ['an id that is none', withMessage({ ...event('a'), id: 7 })],
    ['a question that is none', withMessage({ ...event('a'), question: 'x' })],
    ['wantsReply that is no flag', withMessage({ ...event('a'), wantsReply: 1 })],
    ['a session that is none', withMessage({ ...event('a'), session: {} })],
    ['an answer without an outcome', withMessage(answer)],
    ['an answer with another outcome', withMessage({ ...answer, outcome: { type: 'lost', reason: 'x' } })],
    ['an answer without a reason', withMessage({ ...answer, outcome: { type: 'unknown' } })],
    ['an answer with another session', withMessage({ ...answer, outcome: { type: 'unknown', reason: '', again: 1 } })],
    ['an answer to no question', withMessage({ kind: 'answer', outcome: { type: 'answered' } })],
  ])('%s is no batch', async (_, batch) => {
    const { post, batches } = await open()
    expect((await post(JSON.stringify(batch)))[0]).toBe(400)
    expect(batches).toEqual([])
  })

  test.each(['', '{', '\u0000', '{"protocol":1', '"'])('%j is no batch', async (body) => {
    const { post } = await open()
    expect((await post(body))[0]).toBe(400)
  })

  test('another protocol, with other fields, is refused as that', async () => {
    const { post } = await open()
    expect(await post('{"protocol":2,"changed":true}')).toEqual([
      409,
      '{"error":"this process speaks protocol 1, and the sender 2: run one version of @leasehold/sharding everywhere"}',
    ])
    expect((await post('{}'))[0]).toBe(400)
  })

  test.each([
    '/leasehold-sharding/%',
    '/leasehold-sharding/',
    '/',
    '/leasehold-sharding/__proto__',
    '/leasehold-sharding/accounts/x',
  ])('nothing is at %s', async (path) => {
    const { post } = await open()
    expect((await post(JSON.stringify(good), path))[0]).toBe(404)
  })

  test('other methods are refused', async () => {
    const { transport } = await open()
    const response = await transport.fetch(new Request('http://host/leasehold-sharding/accounts'))
    expect(response.status).toBe(405)
  })

  test('a body without a length can be too large', async () => {
    const { post, batches } = await open()
    const text = JSON.stringify(batchOf([event('a', 'x'.repeat(20_000))]))
    const unmeasured = new Blob([text]).stream()
    expect((await post(unmeasured))[0]).toBe(413)
    expect(batches).toEqual([])
  })

  test('a body without a length that does not end is too large', async () => {
    const { post, batches } = await open()
    const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(1_000)) })
    expect((await post(endless))[0]).toBe(413)
    expect(batches).toEqual([])
  })

  test('a body that breaks off is none', async () => {
    const { post, batches } = await open()
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('reset')) })
    expect((await post(broken))[0]).toBe(400)
    expect(batches).toEqual([])
  })

  test('a body that does not arrive is given up', async () => {
    const clock = new VirtualClock()
    const { post, batches } = await open({ clock })
    const answered = post(new ReadableStream<Uint8Array>({}))
    await clock.advance(10_000)
    expect((await answered)[0]).toBe(408)
    expect(batches).toEqual([])
  })

  test('a handler that fails costs its own batch, and says nothing of why', async () => {
    const transport = httpTransport({ address: ADDRESS, listen: false })
    await transport.listen('accounts', () => Promise.reject(new Error('password')))
    await transport.listen('carts', () => {
      throw new Error('password')
    })
    for (const region of ['accounts', 'carts']) {
      const body = JSON.stringify(batchOf([event('a')], region))
      const request = new Request(`http://host/leasehold-sharding/${region}`, { method: 'POST', body })
      const response = await transport.fetch(request)
      expect(response.status).toBe(500)
      expect(await response.text()).not.toContain('password')
    }
  })

  test('a sender that goes away in the middle leaves the server as it was', async () => {
    const { transport, origin } = await mount((mounted) => listening(mounted.handler))
    const { batches, handler } = accepting()
    await transport.listen('accounts', handler)
    const sender = httpTransport({ address: ADDRESS, listen: false, secret })
    const url = `${origin}/internal/leasehold-sharding/accounts`
    for (let index = 0; index < 5; index += 1) {
      const request = sendRequest(url, { method: 'POST', headers: { 'content-length': 1_000 } })
      request.on('error', () => {})
      await new Promise<void>((resolve) => request.write('{', () => resolve()))
      request.destroy()
    }
    expect(await sender.send(`${origin}/internal`, batchOf([event('a')]), forever)).toEqual([accepted])
    expect(batches).toHaveLength(1)
  })
})
