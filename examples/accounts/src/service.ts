import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { healthOf, type LeaseStore } from '@leasehold/core'
import {
  type EntityState,
  httpTransport,
  NotDeliveredError,
  OutcomeUnknownError,
  ShardRegion,
} from '@leasehold/sharding'
import { type AccountAnswer, type AccountEvent, account } from './account.js'

/** What all instances of the service share. */
export interface Shared {
  readonly store: LeaseStore
  readonly state: EntityState
}

/**
 * One instance of the service. `GET /accounts/ID` answers the balance. `POST /accounts/ID/deposit?amount=…&key=…` books, and so
 * does `withdraw`. Each account lives on one of the instances, and every instance answers for all of them.
 */
export async function startInstance(name: string, { store, state }: Shared) {
  // #region region
  const accounts = new ShardRegion(store, {
    name: 'accounts',
    owner: name,
    shards: 16,
    entity: account,
    state,
    // The other instances send events to this address. With port 0, the system chooses a port.
    transport: httpTransport({ address: 'http://127.0.0.1:0', secret: 'known to all instances' }),
    passivateAfter: 120_000,
    heartbeatTimeout: 3_000,
    heartbeatInterval: 500,
    operationTimeout: 500,
  })
  await accounts.start()
  // #endregion region

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => reply(response, 500, { error: error.message }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', address)
    const [, path, id = '', action = 'balance'] = pathname.split('/').map(decodeURIComponent)
    if (pathname === '/health') return reply(response, healthOf(accounts).healthy ? 200 : 500, {})
    if (path !== 'accounts' || id === '') return reply(response, 404, {})
    if (action === 'balance') return await ask(id, { type: 'balance' }, response)
    if (action !== 'deposit' && action !== 'withdraw') return reply(response, 404, {})
    const amount = Number(searchParams.get('amount'))
    const key = searchParams.get('key') ?? ''
    if (!(amount > 0) || key === '') {
      return reply(response, 400, { error: 'amount must be a positive number, and key a text of your choice' })
    }
    await ask(id, { type: action, amount, key }, response)
  }

  // #region ask
  async function ask(id: string, event: AccountEvent, response: ServerResponse): Promise<void> {
    try {
      const answered = await accounts.ask<AccountAnswer>(id, event, { timeout: 2_000 })
      reply(response, 'refused' in answered ? 409 : 200, answered)
    } catch (error) {
      if (error instanceof NotDeliveredError) return reply(response, 503, { error: 'not booked: try again' })
      if (!(error instanceof OutcomeUnknownError)) throw error
      // The account books a key once: to repeat the request is safe.
      reply(response, 504, { error: 'perhaps booked: try again with the same key' })
    }
  }
  // #endregion ask

  /** Gives the accounts to the other instances, then ends the server. */
  async function close(): Promise<void> {
    await accounts.stop()
    server.closeAllConnections()
    server.close()
  }

  return { name, address, accounts, close }
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
