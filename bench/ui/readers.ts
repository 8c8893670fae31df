import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface ReadersTask {
  readonly port: number
  readonly token: string
  /** How many open a stream and read all of it. */
  readonly reading: number
  /** How many open a stream and read nothing. */
  readonly deaf: number
}

/** Opens streams, for a process of its own. */
export async function openReaders({ port, token, reading, deaf }: ReadersTask) {
  let received = 0
  let ended = 0
  const open = async (isDeaf: boolean): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    const lines = ['GET /api/events HTTP/1.1', `host: 127.0.0.1:${port}`, `authorization: Bearer ${token}`]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    socket.on('error', () => {})
    socket.on('close', () => {
      ended += 1
    })
    if (isDeaf) socket.pause()
    else
      socket.on('data', (data) => {
        received += data.length
      })
    return socket
  }
  const sockets: Socket[] = []
  for (let count = 0; count < reading + deaf; count += 1) sockets.push(await open(count >= reading))
  return {
    received: () => received,
    ended: () => ended,
    close: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}
