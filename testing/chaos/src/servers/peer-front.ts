import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { connectionOwner } from './connection-owner.js'
import type { Mesh } from './mesh.js'

interface PeerFrontOptions {
  /** The number of the server that is reached here, from 0, and the port at which it listens. */
  readonly to: number
  readonly target: number
  /** The processes of all servers by their numbers; `undefined` before the first start. */
  readonly processes: () => readonly (number | undefined)[]
  /** Where the others look for it: a free port of 127.0.0.1 unless given. */
  readonly address?: { readonly host: string; readonly port: number }
}

/**
 * The address by which all servers of a cluster know one of them. It passes each connection on by the way of the server that has
 * made it, so that one server can be cut off from the others although they share the address.
 */
export class PeerFront {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
  }

  static async start(mesh: Mesh, { to, target, processes, address }: PeerFrontOptions): Promise<PeerFront> {
    const server = createServer({ allowHalfOpen: true })
    const { host, port } = address ?? { host: '127.0.0.1', port: 0 }
    server.listen(port, host)
    await once(server, 'listening')
    const front = new PeerFront(server)
    const ways = new Map<number, Promise<number>>()
    const wayOf = async (socket: Socket): Promise<number> => {
      const pids = processes()
      const known = pids.filter((pid) => pid !== undefined)
      const owner = await connectionOwner(socket.remotePort ?? 0, front.port, known)
      // The way of something that is no server, such as a tool, leads from no number of a server.
      const from = owner === undefined ? -1 : pids.indexOf(owner)
      const way = ways.get(from) ?? mesh.way(from, to, target)
      ways.set(from, way)
      return await way
    }
    server.on('connection', (socket: Socket) => {
      front.#keep(socket)
      void wayOf(socket).then((way) => front.#join(socket, way))
    })
    return front
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #join(socket: Socket, way: number): void {
    const other = connect({ port: way, host: '127.0.0.1', allowHalfOpen: true })
    this.#keep(other)
    // An error of one side ends the other.
    pipeline(socket, other, () => {})
    pipeline(other, socket, () => {})
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
  }
}
