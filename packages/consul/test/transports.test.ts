import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type ConsulClusterOptions, ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'
import { AbortableCall } from '@leasehold/core/store'
import { freePort } from '@leasehold/testing/free-port'
import Consul from 'consul'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ConsulClient } from '../src/http/consul-client.js'

interface Agent {
  readonly url: string
  readonly port: number
  /** The paths with their queries, and the tokens. */
  readonly asked: { readonly path: string; readonly token: unknown }[]
  readonly sockets: ReadonlySet<Socket>
  /** How many connections have carried a request and are open. */
  readonly carrying: () => number
}

/** What an agent of Consul is for these tests: it answers each request with the text of a function, or not at all. */
async function agentThat(answers: (request: IncomingMessage, response: ServerResponse) => void): Promise<Agent> {
  const sockets = new Set<Socket>()
  const carriers = new Set<Socket>()
  const asked: { path: string; token: unknown }[] = []
  const server: Server = createServer((request, response) => {
    asked.push({ path: request.url ?? '', token: request.headers['x-consul-token'] })
    carriers.add(request.socket)
    answers(request, response)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const carrying = (): number => [...sockets].filter((socket) => carriers.has(socket)).length
  return { url: `http://127.0.0.1:${port}`, port, asked, sockets, carrying }
}

/** A client for each way to send requests. */
const ways: readonly [string, (port: number) => ConsulClusterOptions][] = [
  ['connections of its own', (port) => ({ addresses: [`http://127.0.0.1:${port}`] })],
  ['a Consul object', (port) => ({ consul: new Consul({ host: '127.0.0.1', port }) })],
  ['a fetch', (port) => ({ addresses: [`http://127.0.0.1:${port}`], fetch: (...args) => fetch(...args) })],
]

function clientWith(options: ConsulClusterOptions): ConsulClient {
  const client = new ConsulClient(options)
  onTestFinished(() => client.close())
  return client
}

const get = { method: 'GET', path: '/kv/job' } as const

describe.each(ways)('over %s', (_, optionsFor) => {
  it('an answer has its status, its text and its index, and redirects are not followed', async () => {
    const agent = await agentThat((__, response) =>
      response.writeHead(307, { location: 'http://127.0.0.1:1/', 'x-consul-index': '7' }).end('elsewhere'),
    )
    const answer = await clientWith(optionsFor(agent.port)).send(get, new AbortableCall(5_000))
    expect(answer).toEqual({ status: 307, text: 'elsewhere', index: 7 })
    expect(agent.asked.map(({ path }) => path)).toEqual(['/v1/kv/job'])
  })

  it.each([false, true])('a request that is aborted ends its connection (blocking: %s)', async (blocking) => {
    const agent = await agentThat(() => {})
    const call = new AbortableCall(60_000)
    const reason = new Error('enough')
    const sent = clientWith(optionsFor(agent.port)).send({ ...get, blocking }, call)
    await vi.waitFor(() => expect(agent.asked.length).toBe(1))
    call.abort(reason)
    await expect(sent).rejects.toBe(reason)
    await vi.waitFor(() => expect(agent.carrying()).toBe(0))
  })

  it('the end of the client ends its requests', async () => {
    const agent = await agentThat(() => {})
    const client = clientWith(optionsFor(agent.port))
    const sent = client.send({ ...get, blocking: true }, new AbortableCall(60_000))
    await vi.waitFor(() => expect(agent.asked.length).toBe(1))
    client.close()
    await expect(sent).rejects.toMatchObject({ code: 'unavailable' })
    await vi.waitFor(() => expect(agent.carrying()).toBe(0))
  })

  it('a refused connection is an error that does not say that the request may have been applied', async () => {
    const sent = clientWith(optionsFor(await freePort())).send(get, new AbortableCall(5_000))
    await expect(sent).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^the Consul agent cannot be reached: .*ECONNREFUSED.*Check the addresses/),
    })
  })

  it('a connection that the agent closed while it was idle fails no request', async () => {
    const agent = await agentThat((__, response) => response.end('{}'))
    const client = clientWith(optionsFor(agent.port))
    for (let count = 0; count < 20; count += 1) {
      // The close and the request cross on their way.
      for (const socket of agent.sockets) socket.resetAndDestroy()
      expect((await client.send(get, new AbortableCall(5_000))).status).toBe(200)
    }
  })
})

/** Guards over two agents for each way to send requests; a Consul object has one. */
const guardWays: readonly [string, (ports: readonly number[]) => ConsulClusterOptions][] = [
  ['connections of its own', (ports) => ({ addresses: ports.map(addressAt) })],
  ['a Consul object', ([port = 0]) => ({ consul: new Consul({ host: '127.0.0.1', port }) })],
  ['a fetch', (ports) => ({ addresses: ports.map(addressAt), fetch: (...args) => fetch(...args) })],
]

function addressAt(port: number): string {
  return `http://127.0.0.1:${port}`
}

function guardWith(options: ConsulClusterOptions): ConsulGuard {
  const guard = new ConsulGuard(options)
  onTestFinished(() => guard.close())
  return guard
}

/** The transactions that reached these agents. */
function written(...agents: readonly Agent[]): number {
  return agents.flatMap(({ asked }) => asked).filter(({ path }) => path.startsWith('/v1/txn')).length
}

/** An agent that knows no fence, and does this with each transaction. */
function agentWithout(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Agent> {
  return agentThat((request, response) => {
    if (request.method === 'GET') response.writeHead(404).end()
    else answer(request, response)
  })
}

describe.each(guardWays)('a guarded write over %s', (_, optionsFor) => {
  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
    ['ends the connection', ({ socket }) => socket.resetAndDestroy()],
    ['answers that it lost its leader', (__, response) => response.writeHead(500).end('leadership lost')],
  ])('is sent once, also where the agent %s: two copies could be applied, one of them late', async (__, fail) => {
    const [agent, next] = [await agentWithout(fail), await agentWithout(fail)]
    const guard = guardWith(optionsFor([agent.port, next.port]))
    await expect(guard.write('ledger', 1n, 'entry')).rejects.toMatchObject({ code: 'unavailable' })
    expect(written(agent, next)).toBe(1)
  })
})

describe('a guarded write', () => {
  it('is sent to the next agent if the connection to the first was refused', async () => {
    const agent = await agentWithout((_, response) => response.end('{}'))
    // The first agent ends between the look at the fence and the write.
    const own: typeof fetch = async (url, init) =>
      init?.method === 'GET' ? new Response('', { status: 404 }) : await fetch(url, init)
    const guard = guardWith({ addresses: [addressAt(await freePort()), agent.url], fetch: own as never })
    await guard.write('ledger', 1n, 'entry')
    expect(written(agent)).toBe(1)
  })
})

describe('a Consul object', () => {
  it('lends its token, datacenter and partition, and none of its defaults for reads, which would be stale', async () => {
    const agent = await agentThat((_, response) => response.end('{}'))
    const defaults = { token: 'secret', dc: 'dc2', partition: 'p', stale: true, wait: '9s', index: '5', filter: 'x' }
    const consul = new Consul({ host: '127.0.0.1', port: agent.port, defaults })
    await clientWith({ consul }).send({ ...get, query: { consistent: '' } }, new AbortableCall(5_000))
    expect(agent.asked).toEqual([{ path: '/v1/kv/job?consistent=&dc=dc2&partition=p', token: 'secret' }])
  })

  it('with a path before /v1 keeps it', async () => {
    const agent = await agentThat((_, response) => response.end('{}'))
    const consul = new Consul({ baseUrl: `${agent.url}/consul/v1` } as object)
    await clientWith({ consul }).send(get, new AbortableCall(5_000))
    expect(agent.asked.map(({ path }) => path)).toEqual(['/consul/v1/kv/job'])
  })
})

describe('a blocking query', () => {
  it.each(['connections of its own', 'a Consul object'])('over %s does not keep the process alive', async (way) => {
    let isQueried = (): void => {}
    const queried = new Promise<void>((resolve) => {
      isQueried = resolve
    })
    const agent = await agentThat((request, response) => {
      // The query is not answered, and the program goes on when it is there.
      if (request.url?.includes('wait=') === true) isQueried()
      else void queried.then(() => response.end())
    })
    const program = fileURLToPath(new URL('./support/watcher.ts', import.meta.url))
    const options = ['--import', 'tsx', '--conditions', '@leasehold/source', program, String(agent.port), way]
    // Rejects if the process does not end by itself.
    await promisify(execFile)(process.execPath, options, { timeout: 60_000 })
  })
})

describe('a fetch of the user', () => {
  it('that does not heed the signal does not delay the end of a call', async () => {
    const call = new AbortableCall(60_000)
    const reason = new Error('enough')
    const sent = clientWith({ fetch: () => new Promise(() => {}) }).send(get, call)
    call.abort(reason)
    await expect(sent).rejects.toBe(reason)
  })

  it.each([
    ['throws', () => expect.fail('a fault of the user')],
    ['rejects with a text', () => Promise.reject('a fault of the user')],
    ['answers nothing', async () => undefined as never],
  ])('that %s costs only its own call', async (_, faulty) => {
    const sent = clientWith({ fetch: faulty as never }).send(get, new AbortableCall(5_000))
    await expect(sent).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('that finds its kept connection closed is called once more, and not a third time', async () => {
    const closed = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
    const answer = { status: 200, headers: new Headers(), text: async () => 'true' }
    const faulty = vi.fn(async () => answer).mockRejectedValue(new TypeError('fetch failed', { cause: closed }))
    await expect(clientWith({ fetch: faulty }).send(get, new AbortableCall(5_000))).rejects.toMatchObject({
      message: expect.stringContaining('did not answer: other side closed'),
    })
    expect(faulty).toHaveBeenCalledTimes(2)
    faulty.mockReset().mockRejectedValueOnce(closed).mockResolvedValueOnce(answer)
    expect(await clientWith({ fetch: faulty }).send(get, new AbortableCall(5_000))).toMatchObject({ status: 200 })
  })

  it('is called with the token of the options', async () => {
    const agent = await agentThat((_, response) => response.end('{}'))
    const options = { addresses: [agent.url], token: 'secret', datacenter: 'dc2' }
    const client = clientWith({ ...options, fetch: (...args) => fetch(...args) })
    await client.send({ method: 'PUT', path: '/txn', body: '[]' }, new AbortableCall(5_000))
    expect(agent.asked).toEqual([{ path: '/v1/txn?dc=dc2', token: 'secret' }])
  })
})

describe('options that contradict each other are a LeaseConfigurationError', () => {
  const consul = new Consul()

  it.each([
    ['a Consul object beside addresses', { consul, addresses: ['http://127.0.0.1:8500'] }, 'give consul alone'],
    ['a Consul object beside a token', { consul, token: 'secret' }, 'give consul alone'],
    ['a fetch beside certificates', { fetch, caFile: import.meta.filename }, 'give fetch, or agent'],
    ['a fetch that is none', { fetch: {} as never }, 'fetch must be a function'],
    ['a Consul object that is none', { consul: { kv: {}, session: {}, transaction: {} } }, 'must be a Consul object'],
  ] as const)('%s', (_, options, message) => {
    for (const make of [() => new ConsulLeaseStore(options), () => new ConsulGuard(options)])
      expect(make).toThrow(message)
  })

  it.each([
    ['a Consul object', consul, '{ consul: client }'],
    ['a fetch', fetch, '{ fetch }'],
    ['an address', 'http://127.0.0.1:8500', "{ addresses: ['http://127.0.0.1:8500'] }"],
  ])('%s in the place of the options', (_, given, advice) => {
    expect(() => new ConsulLeaseStore(given as never)).toThrow(
      `ConsulLeaseStore takes an object with options: give ${advice}`,
    )
    expect(() => new ConsulGuard(given as never)).toThrow(`ConsulGuard takes an object with options: give ${advice}`)
  })
})
