import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type RedisReply, redisCommands } from './redis-command.js'

interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Who may ask: each token, with the user that its commands run as. */
interface Token {
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/**
 * The REST API of Upstash Redis over servers of this machine: `POST /PORT` with a command, `/PORT/pipeline` and
 * `/PORT/multi-exec` with several. The token has the access to the server: `username:password`, `password`, or `open`.
 * https://upstash.com/docs/redis/features/restapi
 */
export class UpstashFront {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** How many requests came, one for each command or pipeline. */
  requests = 0

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.on('request', (request, response) => {
      this.requests += 1
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      this.#answer(request, gone.signal).then(
        ({ status, body }) => {
          response.writeHead(status, { 'content-type': 'application/json', 'upstash-sync-token': `${this.requests}` })
          response.end(JSON.stringify(body))
        },
        // The server behind it does not answer: so a load balancer ends the request.
        () => response.destroy(),
      )
    })
  }

  /** Keeps no process alive. */
  static async start(): Promise<UpstashFront> {
    const server = createServer({ keepAliveTimeout: 60_000 })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    server.unref()
    return new UpstashFront(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The URL and the token for a server of Redis, as clients take them. */
  access(server: { readonly port: number } & Token): { readonly url: string; readonly token: string } {
    const { port, username, password } = server
    const access = [username, password].filter((part) => part !== undefined).map(encodeURIComponent)
    return { url: `http://127.0.0.1:${this.port}/${port}`, token: access.length === 0 ? 'open' : access.join(':') }
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, gone: AbortSignal): Promise<Answer> {
    const [, port = '', kind = ''] = (request.url ?? '').split('/')
    const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? []
    if (request.method !== 'POST') return { status: 405, body: { error: 'Method Not Allowed' } }
    if (token === undefined) return { status: 401, body: { error: 'Unauthorized' } }
    const shape = request.headers['upstash-encoding'] === 'base64' ? encoded : (reply: RedisReply) => reply
    const body = JSON.parse(await textOf(request)) as string[] | string[][]
    const auth = token === 'open' ? [] : [['AUTH', ...token.split(':').map(decodeURIComponent)]]
    const commands = kind === '' ? [body as string[]] : (body as string[][])
    const all = kind === 'multi-exec' ? [['MULTI'], ...commands, ['EXEC']] : commands
    const replies = await redisCommands({ port: Number(port) }, [...auth, ...all], gone)
    const [denied] = replies.slice(0, auth.length)
    if (denied instanceof Error) {
      return { status: 401, body: { error: 'WRONGPASS invalid or missing auth token' } }
    }
    const answers = replies.slice(auth.length)
    if (kind === '') {
      const [reply = null] = answers
      if (reply instanceof Error) return { status: 400, body: { error: reply.message } }
      return { status: 200, body: { result: shape(reply) } }
    }
    const results = kind === 'multi-exec' ? answers.at(-1) : answers
    if (results instanceof Error) return { status: 400, body: { error: results.message } }
    const each = (reply: RedisReply) => (reply instanceof Error ? { error: reply.message } : { result: shape(reply) })
    return { status: 200, body: (results as readonly RedisReply[]).map(each) }
  }
}

/** As the header `Upstash-Encoding: base64` has it: all texts, except for `OK`. */
function encoded(reply: RedisReply): unknown {
  if (Array.isArray(reply)) return reply.map(encoded)
  return typeof reply === 'string' && reply !== 'OK' ? Buffer.from(reply).toString('base64') : reply
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
