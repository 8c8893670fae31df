import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { systemClock } from '@leasehold/core'

type Direction = 'request' | 'response'

/**
 * A proxy of a server on this machine. Give its `port` to the client of a backend, and cut it off, slow it down or reset
 * it while the tests run. It knows no protocol and uses real time. Its faults affect all connections, also later ones.
 */
export class TcpProxy {
  /** The port for clients, on 127.0.0.1. It never changes. */
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number
  /** The directions in which bytes, and the ends of connections, are dropped. */
  #dropped: readonly Direction[] = []
  #delay = 0
  #isRefusing = false
  #losesNext = false

  private constructor(server: Server, target: number) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.#target = target
    server.on('connection', (client: Socket) => this.#join(client))
  }

  /** A proxy of this port of 127.0.0.1, without faults. */
  static async to(target: number): Promise<TcpProxy> {
    // After one side has ended, the other may still answer.
    const server = createServer({ allowHalfOpen: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, target)
  }

  /** Drops all bytes in both directions, and the ends of connections. */
  blackHole(): void {
    this.#dropped = ['request', 'response']
  }

  /** Forwards requests and drops their answers. */
  dropResponses(): void {
    this.#dropped = ['response']
  }

  /**
   * The next answer of the server is lost, on any connection, and that connection is reset: the server has executed the
   * request, and the client cannot know. Other connections are not affected.
   */
  dropNextResponse(): void {
    this.#losesNext = true
  }

  /** Delays answers by a number of milliseconds. The answers of a connection stay in order. */
  slowDown(delay: number): void {
    this.#delay = delay
  }

  /** Ends all connections with a reset; new ones may be made. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /**
   * New connections are reset at once; existing ones stay. They are not refused by the operating system, because another
   * process could then take the port.
   */
  refuse(): void {
    this.#isRefusing = true
  }

  /** New connections go to this port of 127.0.0.1, as after a failover; existing ones stay. */
  retarget(target: number): void {
    this.#target = target
  }

  /** Ends all faults. Connections that have lost bytes are reset. */
  heal(): void {
    if (this.#dropped.length > 0) this.reset()
    this.#dropped = []
    this.#delay = 0
    this.#isRefusing = false
    this.#losesNext = false
  }

  /** Ends all connections, and the proxy. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #join(client: Socket): void {
    if (this.#isRefusing) {
      client.on('error', () => {})
      client.resetAndDestroy()
      return
    }
    const server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true })
    this.#pipe(client, server, 'request')
    this.#pipe(server, client, 'response')
  }

  #pipe(from: Socket, to: Socket, direction: Direction): void {
    this.#sockets.add(from)
    let earlier = Promise.resolve()
    // In order: bytes with a shorter delay must not overtake others.
    const inTurn = (act: () => void): void => {
      if (this.#dropped.includes(direction)) return
      const due = this.#waiting(direction)
      earlier = Promise.all([earlier, due]).then(() => {
        if (!this.#dropped.includes(direction) && !to.destroyed) act()
      })
    }
    from.on('data', (bytes) => {
      if (direction === 'response' && this.#losesNext) {
        this.#losesNext = false
        from.resetAndDestroy()
        to.resetAndDestroy()
        return
      }
      inTurn(() => to.write(bytes))
    })
    from.on('end', () => inTurn(() => to.end()))
    from.on('error', () => inTurn(() => to.resetAndDestroy()))
    from.on('close', () => this.#sockets.delete(from))
  }

  async #waiting(direction: Direction): Promise<void> {
    const delay = direction === 'response' ? this.#delay : 0
    if (delay > 0) await new Promise<void>((done) => void systemClock.schedule(delay, done))
  }
}
