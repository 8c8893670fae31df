import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { TcpProxy } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'

/** How long nothing has to happen to count as nothing, in milliseconds. */
const A_WHILE = 60

/** A server that echoes its input after its name, and records it. */
async function startEcho(name = '') {
  const sockets = new Set<Socket>()
  const heard: string[] = []
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => heard.push('<error>'))
    socket.on('end', () => heard.push('<end>'))
    socket.on('data', (bytes) => {
      heard.push(String(bytes))
      socket.write(name + String(bytes))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, heard, sockets }
}

/** A connection with all of its received text. */
class Caller {
  readonly socket: Socket
  received = ''

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('data', (bytes) => {
      this.received += String(bytes)
    })
    this.socket.on('end', () => {
      this.received += '<end>'
    })
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.received += `<${error.code}>`
    })
    onTestFinished(() => void this.socket.destroy())
  }

  say(text: string): void {
    this.socket.write(text)
  }

  async isTold(text: string): Promise<void> {
    await expect.poll(() => this.received, { interval: 2, timeout: 5_000 }).toBe(text)
  }
}

async function setUp() {
  const echo = await startEcho()
  const proxy = await TcpProxy.to(echo.port)
  onTestFinished(() => proxy.close())
  const caller = new Caller(proxy.port)
  caller.say('a')
  await caller.isTold('a')
  return { echo, proxy, caller }
}

describe('TcpProxy', () => {
  it('forwards all bytes, and then the end of the connection', async () => {
    const { echo, proxy } = await setUp()
    const caller = new Caller(proxy.port)
    const long = 'x'.repeat(1_000_000)
    caller.socket.end(long)
    await caller.isTold(`${long}<end>`)
    expect(echo.heard.at(-1)).toBe('<end>')
  })

  it('blackHole drops all bytes and the end of a connection, and heal resets the connection', async () => {
    const { echo, proxy, caller } = await setUp()
    const left = new Caller(proxy.port)
    left.say('b')
    await left.isTold('b')
    proxy.blackHole()
    caller.say('lost')
    left.socket.resetAndDestroy()
    for (const socket of echo.sockets) socket.write('lost')
    await sleep(A_WHILE)
    expect([echo.heard, caller.received]).toEqual([['a', 'b'], 'a'])
    proxy.heal()
    await caller.isTold('a<ECONNRESET>')
    await expect.poll(() => echo.heard).toEqual(['a', 'b', '<error>', '<error>'])
    const next = new Caller(proxy.port)
    next.say('c')
    await next.isTold('c')
  })

  it('blackHole gives no answer to a new connection', async () => {
    const { echo, proxy } = await setUp()
    proxy.blackHole()
    const caller = new Caller(proxy.port)
    caller.say('lost')
    await sleep(A_WHILE)
    expect([echo.heard, caller.received]).toEqual([['a'], ''])
  })

  it('dropResponses forwards requests and drops their answers', async () => {
    const { echo, proxy, caller } = await setUp()
    proxy.dropResponses()
    caller.say('b')
    await expect.poll(() => echo.heard).toEqual(['a', 'b'])
    await sleep(A_WHILE)
    expect(caller.received).toBe('a')
    proxy.heal()
    await caller.isTold('a<ECONNRESET>')
  })

  it('dropNextResponse drops one answer and resets its connection only', async () => {
    const { echo, proxy, caller } = await setUp()
    const other = new Caller(proxy.port)
    proxy.dropNextResponse()
    caller.say('b')
    await caller.isTold('a<ECONNRESET>')
    expect(echo.heard).toContain('b')
    other.say('c')
    await other.isTold('c')
  })

  it('slowDown delays answers, and keeps their order when the delay shrinks', async () => {
    const { proxy, caller } = await setUp()
    proxy.slowDown(1_000)
    caller.say('b')
    await sleep(A_WHILE)
    proxy.slowDown(1)
    caller.say('c')
    await sleep(A_WHILE / 2)
    expect(caller.received).toBe('a')
    await caller.isTold('abc')
    proxy.slowDown(1_000)
    caller.say('d')
    await sleep(A_WHILE)
    proxy.blackHole()
    await sleep(1_000)
    expect(caller.received, 'bytes on their way are dropped too').toBe('abc')
  })

  it('reset ends the connection for both sides at once', async () => {
    const { echo, proxy, caller } = await setUp()
    proxy.reset()
    await caller.isTold('a<ECONNRESET>')
    await expect.poll(() => echo.heard).toEqual(['a', '<error>'])
  })

  it('refuse resets new connections and keeps existing ones', async () => {
    const { echo, proxy, caller } = await setUp()
    proxy.refuse()
    const refused = new Caller(proxy.port)
    refused.say('b')
    await refused.isTold('<ECONNRESET>')
    caller.say('c')
    await caller.isTold('ac')
    expect(echo.heard).toEqual(['a', 'c'])
    proxy.heal()
    caller.say('d')
    await caller.isTold('acd')
    const next = new Caller(proxy.port)
    next.say('e')
    await next.isTold('e')
  })

  it('retarget sends new connections to the other server', async () => {
    const { proxy, caller } = await setUp()
    const other = await startEcho('other:')
    proxy.retarget(other.port)
    const next = new Caller(proxy.port)
    next.say('b')
    caller.say('b')
    await Promise.all([next.isTold('other:b'), caller.isTold('ab')])
  })

  it('resets connections to a port without a listener', async () => {
    const { proxy } = await setUp()
    const probe = await TcpProxy.to(proxy.port)
    await probe.close()
    proxy.retarget(probe.port)
    const caller = new Caller(proxy.port)
    await caller.isTold('<ECONNRESET>')
  })

  it('leaves nothing behind when it is closed', async () => {
    const { echo, proxy, caller } = await setUp()
    await proxy.close()
    await caller.isTold('a<end>')
    await expect.poll(() => echo.heard).toEqual(['a', '<end>'])
  })
})
