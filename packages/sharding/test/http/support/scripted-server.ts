import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

interface Script {
  /** When a connection is made. */
  readonly onConnection?: (socket: Socket) => void
  /** When a whole request has arrived on a connection; `count` from 1. */
  readonly onRequest?: (socket: Socket, count: number) => void
}

/** A server that does with connections and requests what a test says. */
export class ScriptedServer implements AsyncDisposable {
  readonly address: string
  readonly #server
  readonly #sockets: Set<Socket>

  private constructor(address: string, server: ReturnType<typeof createServer>, sockets: Set<Socket>) {
    this.address = address
    this.#server = server
    this.#sockets = sockets
  }

  static async start({ onConnection, onRequest }: Script): Promise<ScriptedServer> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      onConnection?.(socket)
      let received = ''
      let count = 0
      socket.on('data', (data) => {
        received += data.toString('latin1')
        for (let length = wholeRequest(received); length !== undefined; length = wholeRequest(received)) {
          received = received.slice(length)
          count += 1
          onRequest?.(socket, count)
        }
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new ScriptedServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, sockets)
  }

  /** How many connections were made. */
  get connections(): number {
    return this.#sockets.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** The length of the first request, if all of it is there. */
function wholeRequest(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n')
  const length = /content-length: (\d+)/i.exec(text)
  if (end < 0 || length === null) return undefined
  const whole = end + 4 + Number(length[1])
  return text.length < whole ? undefined : whole
}

/** The text of an answer. */
export function answer(status: number, body: string, ...headers: string[]): string {
  const lines = [`HTTP/1.1 ${status} Scripted`, `content-length: ${Buffer.byteLength(body)}`, ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
