import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { systemClock } from '@leasehold/core'

/** What becomes of bytes on their way. */
type Mode = 'pass' | 'black-hole' | 'drop-responses'

/** A way to a server of this machine that can be cut, slowed down and reset. What is under way meanwhile is kept back. */
export class TcpProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number
  #mode: Mode = 'pass'
  #delay = 0

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer((client) => this.#join(client))
  }

  static async to(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Nothing comes through any more, in either direction, and nobody is told. */
  blackHole(): void {
    this.#mode = 'black-hole'
  }

  /** Requests come through, their answers do not. */
  dropResponses(): void {
    this.#mode = 'drop-responses'
  }

  /** Answers take so many milliseconds more. */
  slowDown(delay: number): void {
    this.#delay = delay
  }

  /** Ends all connections with a reset; new ones may be made. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Everything comes through again, on new connections: what was swallowed is gone. */
  heal(): void {
    if (this.#mode !== 'pass') this.reset()
    this.#mode = 'pass'
    this.#delay = 0
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #join(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1')
    this.#add(client, server)
    this.#add(server, client)
    client.on('data', (bytes) => {
      if (this.#mode !== 'black-hole') server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (this.#mode !== 'pass') return
      if (this.#delay === 0) client.write(bytes)
      else systemClock.schedule(this.#delay, () => client.write(bytes))
    })
  }

  #add(socket: Socket, other: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      this.#sockets.delete(socket)
      other.destroy()
    })
  }
}
