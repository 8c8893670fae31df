import 'reflect-metadata'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { ScheduleControl } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { LeaseUi, type LeaseUiOptions } from '@leasehold/ui'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Hello, ServerEvents } from '../src/protocol.js'
import { mountInExpress, mountInFastify, mountInHono, mountInNest } from './readme/mounting.js'

/** The part of Express that these tests use. */
interface ExpressApp extends RequestListener {
  use(...handlers: readonly unknown[]): void
  get(path: string, handler: (request: unknown, response: { send(text: string): void }) => void): void
}

const express = createRequire(import.meta.url)('express') as { (): ExpressApp; json(options?: object): unknown }

const TOKEN = 'a-token-of-the-tests-of-mounting'

class OwnPage {
  show(): string {
    return 'own page'
  }
}

class OwnModule {}

// The sources of this package are compiled without decorators.
Get()(OwnPage.prototype, 'show', Object.getOwnPropertyDescriptor(OwnPage.prototype, 'show') ?? {})
Controller()(OwnPage)
Module({ controllers: [OwnPage] })(OwnModule)

interface Running {
  readonly server: Server
  close?(): Promise<unknown>
}

async function listening(listener: RequestListener): Promise<Running> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server }
}

function expressApp(...handlers: readonly unknown[]): ExpressApp {
  const app = express()
  for (const handler of handlers) app.use(handler)
  app.get('/', (_, response) => response.send('own page'))
  return app
}

async function served(app: Hono): Promise<Running> {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  if (!server.listening) await once(server, 'listening')
  return { server }
}

const kinds: Readonly<Record<string, (ui: LeaseUi) => Promise<Running>>> = {
  'node:http, with requests for other paths': (ui) =>
    listening((request, response) => ui.handle(request, response, () => void response.end('own page'))),
  Express: (ui) => {
    const app = express()
    mountInExpress(app, ui)
    app.use(expressApp())
    return listening(app)
  },
  'Express, below the path': (ui) => {
    const app = express()
    app.use('/leases', ui.handle as unknown)
    app.use(expressApp())
    return listening(app)
  },
  'Express, after a parser of JSON': (ui) => listening(expressApp(express.json(), ui.handle)),
  Fastify: async (ui) => {
    const app = fastify()
    mountInFastify(app, ui)
    app.get('/', async () => 'own page')
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { server: app.server, close: () => app.close() }
  },
  Hono: (ui) => {
    const app = new Hono()
    mountInHono(app, ui)
    app.get('/', (context) => context.text('own page'))
    return served(app)
  },
  Nest: async (ui) => {
    const app = await NestFactory.create(OwnModule, { logger: false })
    mountInNest(app, ui)
    await app.listen(0, '127.0.0.1')
    return { server: app.getHttpServer() as Server, close: () => app.close() }
  },
  'a server of the Fetch API': (ui) => {
    const app = new Hono()
    // As Bun, Deno and the routes of Next call it: with the request alone.
    const { fetch } = ui
    app.all('/leases/*', ({ req }) => fetch(req.raw))
    app.get('/', (context) => context.text('own page'))
    return served(app)
  },
}

/** A page in a server of the user, that ends with the test. */
async function mounted(start: (ui: LeaseUi) => Promise<Running>, more: Partial<LeaseUiOptions> = {}) {
  const store = new MemoryLeaseStore()
  const options = { path: '/leases', token: TOKEN, interval: 50, logger: silentLogger }
  const ui = new LeaseUi(store, { ...options, ...more })
  const { server, close } = await start(ui)
  onTestFinished(async () => {
    await ui.close()
    server.closeAllConnections()
    if (close !== undefined) await close()
    else await new Promise((resolve) => server.close(resolve))
    await store.close()
  })
  return { store, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const headers = { authorization: `Bearer ${TOKEN}` }

/** Reads the stream until an event has what is looked for, and leaves it. */
async function until<N extends keyof ServerEvents>(
  origin: string,
  signal: AbortSignal,
  name: N,
  isWanted: (data: ServerEvents[N]) => boolean = () => true,
): Promise<ServerEvents[N]> {
  const response = await fetch(`${origin}/leases/api/events`, { headers, signal })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const [, of, data = ''] = /^event: (\w+)\ndata: (.*)$/s.exec(event) ?? []
      if (of !== name) continue
      const parsed = JSON.parse(data) as ServerEvents[N]
      if (isWanted(parsed)) return parsed
    }
  }
  throw new Error(`the stream has ended without ${name}`)
}

describe.each(Object.entries(kinds))('in %s', (_kind, start) => {
  it('the page and its files are served below the path', async ({ signal }) => {
    const { origin } = await mounted(start)
    const response = await fetch(`${origin}/leases`, { redirect: 'follow', signal })
    expect([response.status, new URL(response.url).pathname]).toEqual([200, '/leases/'])
    const page = await response.text()
    const files = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, file]) => file)
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) {
      const answer = await fetch(new URL(file ?? '', response.url), { signal })
      expect([file, answer.status]).toEqual([file, 200])
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(0)
    }
  })

  it('the stream shows leases as they change, to those with the token only', async ({ signal }) => {
    const { store, origin } = await mounted(start)
    const refused = await fetch(`${origin}/leases/api/events`, { signal })
    expect(refused.status).toBe(401)
    await refused.arrayBuffer()
    const lease = createLease(store, 'billing', { owner: 'anna', logger: silentLogger })
    await lease.acquire()
    const { rows } = await until(origin, signal, 'list', (part) => part.rows.length > 0)
    expect(rows).toMatchObject([{ name: 'billing', owner: 'anna', state: 'leased' }])
    const seen = until(origin, signal, 'changes', (changes) => changes.rows?.[0]?.state === 'available')
    await lease.release()
    await seen
  })

  it('a change arrives with its body', async ({ signal }) => {
    const { store, origin } = await mounted(start, { writable: true })
    const hello: Hello = await until(origin, signal, 'hello')
    const response = await fetch(`${origin}/leases/api/schedule`, {
      method: 'POST',
      headers: {
        ...headers,
        origin,
        'content-type': 'application/json',
        'x-leasehold-change': hello.changeToken ?? '',
      },
      body: JSON.stringify({ name: 'nightly', action: 'pause', reason: 'ä deployment' }),
      signal,
    })
    expect([response.status, await response.json()]).toEqual([200, {}])
    const { paused } = await new ScheduleControl(store, 'nightly', { logger: silentLogger }).read()
    expect(paused).toMatchObject({ reason: 'ä deployment' })
  })

  it('the other paths are those of the user', async ({ signal }) => {
    const { origin } = await mounted(start)
    const response = await fetch(`${origin}/`, { signal })
    expect(await response.text()).toBe('own page')
  })
})

describe.each(Object.entries(kinds))('a server of %s', (_kind, start) => {
  it('closes while a page is open, once the page was closed', async ({ signal }) => {
    const ui = new LeaseUi(new MemoryLeaseStore(), { path: '/leases', token: TOKEN, logger: silentLogger })
    const { server, close } = await start(ui)
    onTestFinished(async () => {
      await ui.close()
      server.closeAllConnections()
    })
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const response = await fetch(`${origin}/leases/api/events`, { headers, signal })
    expect(response.status).toBe(200)
    await ui.close()
    expect(await response.text()).toContain('event: hello')
    if (close !== undefined) await close()
    else await new Promise((resolve) => server.close(resolve))
    expect(server.listening).toBe(false)
  })
})

it('Fastify ends the open pages by itself when it is closed', async ({ signal }) => {
  const ui = new LeaseUi(new MemoryLeaseStore(), { path: '/leases', token: TOKEN, logger: silentLogger })
  const app = fastify()
  mountInFastify(app, ui)
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const response = await fetch(`${origin}/leases/api/events`, { headers, signal })
  const [text] = await Promise.all([response.text(), app.close()])
  expect(text).toContain('event: hello')
})
