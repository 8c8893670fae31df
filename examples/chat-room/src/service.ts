import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LeaseStore } from '@leasehold/core'
import {
  type EntityState,
  httpTransport,
  NotDeliveredError,
  OutcomeUnknownError,
  ShardRegion,
} from '@leasehold/sharding'
import { type RoomAnswer, type RoomEvent, room } from './room.js'

/** What all instances of the service share. */
export interface Shared {
  readonly store: LeaseStore
  readonly state: EntityState
}

/**
 * One instance of the service. `POST /rooms/ID?from=…&text=…&key=…` says something in a room. `GET /rooms/ID?after=…` reads the
 * messages with larger numbers.
 */
export async function startInstance(name: string, { store, state }: Shared) {
  // #region mount
  const server = createServer((request, response) => {
    // The events of the other instances come over the same server.
    transport.handler(request, response, () => {
      answer(request, response).catch((error: Error) => reply(response, 500, { error: error.message }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = httpTransport({ address, listen: false, secret: 'known to all instances' })

  const rooms = new ShardRegion(store, {
    name: 'rooms',
    owner: name,
    shards: 8,
    entity: room,
    state,
    transport,
    heartbeatTimeout: 3_000,
    heartbeatInterval: 500,
    operationTimeout: 500,
  })
  await rooms.start()
  // #endregion mount

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', address)
    const [, path, id = ''] = pathname.split('/').map(decodeURIComponent)
    if (path !== 'rooms' || id === '') return reply(response, 404, {})
    const text = (key: string): string => searchParams.get(key) ?? ''
    const event: RoomEvent =
      request.method === 'POST'
        ? { type: 'say', from: text('from'), text: text('text'), key: text('key') }
        : { type: 'read', after: Number(text('after')) }
    try {
      reply(response, 200, await rooms.ask<RoomAnswer>(id, event, { timeout: 2_000 }))
    } catch (error) {
      if (!(error instanceof NotDeliveredError || error instanceof OutcomeUnknownError)) throw error
      // The room takes a key once: to repeat the request is safe.
      reply(response, 503, { error: `${error.code}: try again with the same key` })
    }
  }

  /** Gives the rooms to the other instances, then ends the server. */
  async function close(): Promise<void> {
    await rooms.stop()
    server.closeAllConnections()
    server.close()
  }

  return { name, address, close }
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
