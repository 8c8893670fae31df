import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A front of a server of HTTP that forwards one request at a time, and each one to its end, also when its client has gone:
 * it makes every request atomic, as the service does that the server stands for.
 */
export class RequestsInTurn {
  readonly port: number
  readonly #server: Server
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #target: number
  #last: Promise<void> = Promise.resolve()

  private constructor(server: Server, target: number) {
    this.#server = server
    this.#target = target
    this.port = (server.address() as AddressInfo).port
    server.on('request', (incoming, answer) => void this.#take(incoming, answer))
  }

  /** `target`: the port of the server. */
  static async to(target: number): Promise<RequestsInTurn> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new RequestsInTurn(server, target)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    this.#agent.destroy()
    await closed
  }

  async #take(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body: Buffer[] = []
    try {
      for await (const bytes of incoming) body.push(bytes as Buffer)
    } catch {
      // Its client has gone before the request was whole.
      return
    }
    this.#last = this.#last.then(() => this.#forward(incoming, Buffer.concat(body), answer))
  }

  /** Resolves when the request is over. Never rejects: without an answer of the server, the connection is reset. */
  #forward({ method, url, headers }: IncomingMessage, body: Buffer, answer: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const fail = (): void => {
        answer.socket?.destroy()
        resolve()
      }
      const options = { host: '127.0.0.1', port: this.#target, method, path: url, headers, agent: this.#agent }
      const outgoing = request(options, (received) => {
        const content: Buffer[] = []
        received.on('error', fail)
        received.on('data', (bytes: Buffer) => content.push(bytes))
        received.on('end', () => {
          answer.sendDate = false
          answer.writeHead(received.statusCode ?? 500, received.headers).end(Buffer.concat(content))
          resolve()
        })
      })
      outgoing.on('error', fail)
      outgoing.end(body)
    })
  }
}
