import { request as ask, createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { createLease, type LeaseRecord, type LeaseStore, MemoryLeaseStore, systemClock } from '@leasehold/core'
import { eventually } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkedUiOptions } from '../src/checked-options.js'
import type { UiUser } from '../src/lease-ui-options.js'
import { LeaseList, type Position } from '../src/observer/lease-list.js'
import { StoreObserver } from '../src/observer/store-observer.js'
import type { ListChanges } from '../src/protocol.js'
import { EventHub } from '../src/server/event-hub.js'
import type { Outlet } from '../src/server/ui-call.js'
import { change, openUi, Page, pass, request, TOKEN } from './support/open-ui.js'

/** Serves a page on a real port. */
async function served(open: ReturnType<typeof openUi>): Promise<number> {
  const server: Server = createServer((asked, response) => open.ui.handle(asked, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await open.ui.close()
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Sends a path as it stands, which `fetch` would tidy. */
async function raw(
  port: number,
  path: string,
  method = 'GET',
): Promise<{ readonly status: number; readonly text: string; readonly headers: IncomingMessage['headers'] }> {
  return await new Promise((resolve, reject) => {
    const asked = ask({ port, host: '127.0.0.1', path, method, timeout: 30_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

describe('a path', () => {
  const traversals = [
    '/../package.json',
    '/../../../../etc/passwd',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '/..%5cpackage.json',
    '/..\\package.json',
    '/assets/../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%252e%252e%252fpackage.json',
    '/assets//etc/passwd',
    '//etc/passwd',
    '//evil.test/',
    '/./package.json',
    '/....//package.json',
    '/assets/%00',
    '/assets/%c0%ae%c0%ae/package.json',
    '/__proto__',
    '/constructor',
    '/api/__proto__',
    '/api/events/',
    '/api//events',
    '/API/events',
    '/index.html%00.js',
    '/file:///etc/passwd',
    '/src/lease-ui.ts',
    '/client/main.tsx',
    '/node_modules/preact/package.json',
  ]

  it.each(traversals)('%s leads to nothing', async (path) => {
    const port = await served(openUi())
    const { status, text, headers } = await raw(port, path)
    expect(status).toBe(404)
    expect(text).not.toMatch(/root:|"name"|import /)
    expect(headers.location).toBeUndefined()
    expect(headers['content-security-policy']).toContain(`default-src 'none'`)
  })

  it('without the slash at the end redirects to the page, and to nowhere else', async () => {
    const port = await served(openUi({ path: '/admin/leases' }))
    const { status, headers } = await raw(port, '/admin/leases?a=//evil.test')
    expect({ status, location: headers.location }).toEqual({ status: 307, location: './leases/' })
    for (const path of ['//evil.test/admin/leases', '/admin/leases%0d%0aset-cookie:a=b', '/admin/leasesx', '/admin']) {
      const other = await raw(port, path)
      expect(other.status).toBe(404)
      expect(other.headers.location).toBeUndefined()
      expect(other.headers['set-cookie']).toBeUndefined()
    }
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])('refuses %s', async (method) => {
    const port = await served(openUi())
    for (const path of ['/', '/api/events', '/api/lease']) expect((await raw(port, path, method)).status).toBe(405)
    for (const path of ['/api/break', '/api/schedule', '/api/history']) {
      if (method !== 'POST') expect((await raw(port, path, method)).status).toBe(405)
    }
  })
})

describe('every answer', () => {
  it('has the headers that keep the page apart from others', async () => {
    const open = openUi()
    for (const path of ['/', '/api/events', '/api/lease?name=a', '/nothing', '/api/break']) {
      const response = await open.ui.fetch(request(path))
      await response.body?.cancel()
      const header = (name: string) => response.headers.get(name)
      expect(header('content-security-policy')).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; ` +
          `form-action 'none'; frame-ancestors 'none'`,
      )
      expect(header('x-content-type-options')).toBe('nosniff')
      expect(header('x-frame-options')).toBe('DENY')
      expect(header('referrer-policy')).toBe('no-referrer')
      expect(header('cross-origin-resource-policy')).toBe('same-origin')
      expect(header('cache-control')).toContain('no-store')
      expect(header('access-control-allow-origin')).toBeNull()
    }
    await open.ui.close()
  })

  it('of a file is compressed for those who take it, and is kept for good if its name has a hash', async () => {
    const open = openUi()
    const index = await open.ui.fetch(request('/', { headers: { 'accept-encoding': 'br;q=1, gzip;q=0.8' } }))
    const text = gunzipSync(await index.arrayBuffer()).toString()
    expect(index.headers.get('content-encoding')).toBe('gzip')
    expect(text).toBe(await (await open.ui.fetch(request('/'))).text())
    const path = /assets\/[\w.-]+\.js/.exec(text)?.[0]
    for (const encoding of ['', 'gzip;q=0', 'gzip;q=0.0', 'br']) {
      const script = await open.ui.fetch(request(`/${path}`, { headers: { 'accept-encoding': encoding } }))
      expect(script.headers.get('content-encoding')).toBeNull()
      expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(script.headers.get('content-type')).toContain('javascript')
    }
    await open.ui.close()
  })

  it('and no log has the token, whatever fails', async () => {
    const clock = new VirtualClock()
    const store: LeaseStore = new MemoryLeaseStore({ clock })
    store.list = () => {
      throw new Error('the store is down')
    }
    store.read = async () => {
      throw new TypeError('cannot read')
    }
    const open = openUi({ writable: true }, { clock, store })
    const texts: string[] = []
    const ask = async (asked: Request) => {
      const response = await open.ui.fetch(asked)
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) return await response.body?.cancel()
      texts.push(await response.text(), JSON.stringify([...response.headers]))
    }
    await ask(request(`/api/lease?name=${TOKEN}x&token=${TOKEN}`))
    await ask(request(`/api/events?token=${TOKEN}`))
    await ask(request('/api/break', { method: 'POST', body: TOKEN }))
    await ask(change('/api/break', { name: 'a', token: '1', period: 0, reason: 'x' }, { changeToken: TOKEN }))
    await ask(request(`/${TOKEN}`))
    await pass(open, 60_000)
    expect(open.logged.length).toBeGreaterThan(0)
    expect(texts.map((text) => text.replaceAll(`${TOKEN}x`, '')).join()).not.toContain(TOKEN)
    expect(open.logged.join()).not.toContain(TOKEN)
    await open.ui.close()
  })
})

describe('a name', () => {
  const names = [
    '<img src=x onerror=alert(1)>',
    'a\r\nset-cookie: b=c',
    'a\n\nevent: hello\ndata: {}\n\n',
    'a\u2028b\u2029c\u0000d\u001b[31m',
    '__proto__',
    'constructor',
    '😀/ä/%2e%2e/../?#&=+ "\'`\\',
    'x'.repeat(1_024),
  ]

  it.each(names)('%j is text, and no more', async (name) => {
    const open = openUi({ writable: true })
    const lease = createLease(open.store, name, { owner: '</script>\r\ndata: x', clock: open.clock })
    await lease.acquire({ metadata: { '<b>': '\n\ndata: {}' } })
    const page = await Page.open(open, `?watch=${encodeURIComponent(name)}`)
    expect(page.rows.get(name)).toMatchObject({ owner: '</script>\r\ndata: x' })
    expect(page.of('hello')).toHaveLength(1)
    const detail = await open.ui.fetch(request(`/api/lease?name=${encodeURIComponent(name)}`))
    expect(detail.headers.get('set-cookie')).toBeNull()
    expect(detail.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await detail.json()).toMatchObject({ row: { name }, metadata: { '<b>': '\n\ndata: {}' } })
    const wall = open.clock.wall()
    const asked = { names: [name], from: 0, to: wall }
    const history = await (await open.ui.fetch(change('/api/history', asked, {}))).json()
    expect(Object.keys((history as { spans: object }).spans)).toEqual([name])
    const token = String(lease.fencingToken)
    const breaking = { name, token, period: 0, reason: '<script>\r\n\r\n' }
    expect((await open.ui.fetch(change('/api/break', breaking, page.hello))).status).toBe(200)
    await lease.release().catch(() => {})
    await open.ui.close()
  })
})

describe('many readers', () => {
  it('are refused beyond maxStreams, until one of them has gone', async () => {
    const open = openUi({ maxStreams: 2 })
    const first = await Page.open(open)
    await Page.open(open)
    const third = await open.ui.fetch(request('/api/events'))
    expect(third.status).toBe(503)
    expect(third.headers.get('retry-after')).toBe('5')
    await first.close()
    expect((await open.ui.fetch(request('/api/events'))).status).toBe(200)
    await open.ui.close()
  })

  it('are not more than maxStreams if all of them are accepted at once', async () => {
    let accept = (_: UiUser): void => {}
    const user = new Promise<UiUser>((resolve) => {
      accept = resolve
    })
    const open = openUi({ maxStreams: 2, authorize: () => user })
    const asked = Array.from({ length: 10 }, () => Page.open(open).catch(() => undefined))
    await pass(open, 0)
    accept({ access: 'read' })
    await pass(open, 0)
    const pages = (await Promise.all(asked)).filter((page) => page !== undefined)
    expect(pages.filter((page) => !page.isOver)).toHaveLength(2)
    await open.ui.close()
  })

  it('1,000 open streams get every change, which is made once for all of them', async () => {
    const open = openUi({ maxStreams: 1_000 })
    const pages: Page[] = []
    for (let count = 0; count < 1_000; count += 1) pages.push(await Page.open(open))
    const lease = createLease(open.store, 'orders', { owner: 'worker-1', clock: open.clock })
    await lease.acquire()
    await pass(open, 1_000)
    expect(pages.filter((page) => page.rows.get('orders')?.owner === 'worker-1')).toHaveLength(1_000)
    await open.ui.close()
    await pass(open, 0)
    expect(pages.every((page) => page.isOver)).toBe(true)
    expect(open.clock.pending).toBeLessThan(10)
    await lease.release()
  })

  it('that have gone are noticed on a real connection', async () => {
    const open = openUi({ maxStreams: 1, clock: systemClock, interval: 50 }, { store: new MemoryLeaseStore() })
    const port = await served(open)
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /api/events HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    expect((await open.ui.fetch(request('/api/events'))).status).toBe(503)
    socket.destroy()
    await eventually('the stream has ended', async () => (await open.ui.fetch(request('/api/events'))).status === 200)
  })
})

/** It has room for one event at a time. */
class SlowOutlet implements Outlet {
  readonly chunks: Uint8Array[] = []
  readonly hasRoom = false

  get size(): number {
    return this.chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  get events(): readonly ListChanges[] {
    const texts = this.chunks.map((chunk) => new TextDecoder().decode(chunk))
    return texts.flatMap((text) => {
      const data = /^event: (?:list|changes)\ndata: (.*)\n/.exec(text)?.[1]
      return data === undefined ? [] : [JSON.parse(data)]
    })
  }

  write(bytes: Uint8Array): boolean {
    this.chunks.push(bytes)
    // The greeting leaves room for the first event.
    return bytes.byteLength === 0
  }

  end(): void {}
}

describe('a reader that does not read', () => {
  const record = (name: string, owner: string, token: bigint): LeaseRecord => ({
    name,
    owner,
    grantId: owner,
    fencingToken: token,
    ttl: 30_000,
    remaining: 30_000,
    state: 'leased',
    metadata: {},
  })

  it('costs no more than one event, and gets the rows of the time when it reads', async () => {
    const clock = new VirtualClock()
    const rows = new Map<string, LeaseRecord>()
    for (let index = 0; index < 10_000; index += 1) rows.set(`lease-${index}`, record(`lease-${index}`, 'first', 1n))
    const store: LeaseStore = Object.assign(new MemoryLeaseStore({ clock }), {
      list: async function* () {
        yield* [...rows.values()]
      },
    })
    const options = checkedUiOptions(store, { token: TOKEN, clock })
    const observer: StoreObserver = new StoreObserver(store, options, {
      onChange: () => hub.onChange(),
      onFreshness: () => hub.onFreshness(),
    })
    const hub: EventHub = new EventHub(observer, clock, options.interval)
    const outlet = new SlowOutlet()
    const end = observer.addReader()
    const reader = hub.open(outlet, new Uint8Array(), end)
    observer.start()
    await pass({ clock }, 0)
    for (let round = 2n; round < 12n; round += 1n) {
      for (let index = 0; index < 100; index += 1) {
        const name = `lease-${(Number(round) * 37 + index * 91) % 10_000}`
        rows.set(name, record(name, `owner-${round}`, round))
      }
      await pass({ clock }, 1_000)
    }
    rows.delete('lease-5000')
    await pass({ clock }, 1_000)
    expect(outlet.chunks).toHaveLength(2)
    expect(outlet.size).toBeLessThan(200_000)
    while (!outlet.hasRoom) {
      const before = outlet.chunks.length
      reader.onRoom()
      if (outlet.chunks.length === before) break
    }
    const shown = new Map<string, string>()
    for (const event of outlet.events) {
      for (const { name, owner } of event.rows ?? []) shown.set(name, owner)
      for (const name of event.gone ?? []) shown.delete(name)
    }
    expect(shown).toEqual(new Map([...rows].map(([name, { owner }]) => [name, owner])))
    hub.close()
    observer.close()
  })

  it('gets everything on a real connection when it goes on reading', async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `lease-${index}`)
    const store: LeaseStore = Object.assign(new MemoryLeaseStore(), {
      list: async function* () {
        for (const name of names) yield record(name, 'x'.repeat(200), 1n)
      },
    })
    const port = await served(openUi({ clock: systemClock }, { store }))
    const text = await new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}` }
      const asked = ask({ port, host: '127.0.0.1', path: '/api/events', headers, timeout: 60_000 }, (response) => {
        let read = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          read += chunk
          response.pause()
          setImmediate(() => response.resume())
          if (!read.includes('"isLast":true') || !read.endsWith('\n\n')) return
          asked.destroy()
          resolve(read)
        })
      })
      asked.on('error', reject)
      asked.end()
    })
    expect(new Set(text.match(/"lease-\d+"/g)).size).toBe(20_000)
  })

  it('gets only the last state of each row, in the order of the changes', () => {
    const clock = new VirtualClock()
    const list = new LeaseList(clock)
    for (let index = 0; index < 10_000; index += 1) list.set(record(`lease-${index}`, 'first', 1n), undefined, 0)
    let position: Position = { version: list.head, listUntil: undefined }
    for (let round = 0; round < 1_000; round += 1) list.set(record('lease-7', `owner-${round}`, 2n), undefined, 0)
    for (let index = 0; index < 1_200; index += 1) list.delete(`lease-${index + 100}`)
    const texts: string[] = []
    for (let next = list.eventAfter(position); next !== undefined; next = list.eventAfter(position)) {
      texts.push(new TextDecoder().decode(next.bytes))
      position = next.position
    }
    expect(texts).toHaveLength(3)
    expect(texts.join().match(/owner-\d+/g)).toEqual(['owner-999'])
    expect(texts.join().match(/"lease-\d+"/g)).toHaveLength(1_201)
  })

  it('gets the whole list again after more names are gone than are remembered', () => {
    const list = new LeaseList(new VirtualClock())
    list.set(record('kept', 'a', 1n), undefined, 0)
    const position: Position = { version: list.head, listUntil: undefined }
    for (let index = 0; index < 10_100; index += 1) {
      list.set(record(`lease-${index}`, 'a', 1n), undefined, 0)
      list.delete(`lease-${index}`)
    }
    const text = new TextDecoder().decode(list.eventAfter(position)?.bytes)
    expect(text).toContain('event: list')
    expect(text).toContain('"kept"')
  })
})
