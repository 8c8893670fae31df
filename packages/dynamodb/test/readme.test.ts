import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { createLease, durations } from '@leasehold/core'
import { DynamodbLeaseStore } from '@leasehold/dynamodb'
import { turnsOf } from '@leasehold/testing'
import { describeMoto } from '@leasehold/testing/describe-moto'
import { MotoServer } from '@leasehold/testing/moto-server'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { closeMonth } from './readme/close-month.js'
import { setPrice } from './readme/own-item.js'
import { book } from './readme/transfer.js'
import { granted } from './support/claims.js'
import { clientOf, createTable, TableServer } from './support/table-server.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

/** The environment in which the SDK finds a server of the tests. */
function environmentOf(url: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    NODE_NO_WARNINGS: '1',
  }
}

let server: TableServer

beforeAll(async () => {
  server = await TableServer.start()
})

afterAll(() => server.stop())

it('gives two processes with the first program of the guide their turns', async () => {
  expect(new Set(await turnsOf(firstLease, environmentOf(server.url))).size).toBe(2)
})

it('a write under the token in the own item of the user', async () => {
  const client = server.client()
  await createTable(client, 'products', 'id')
  await setPrice(client, 'pen', 3, 5n)
  await setPrice(client, 'pen', 4, 5n)
  await expect(setPrice(client, 'pen', 1, 4n)).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' })
  const { Item } = await client.send(new GetItemCommand({ TableName: 'products', Key: { id: { S: 'pen' } } }))
  expect(Item?.price).toEqual({ N: '4' })
  client.destroy()
})

it('the handler of a function runs once at a time, and again after its ttl where an invocation was killed', async () => {
  const lambda = await TableServer.start()
  const before = { ...process.env }
  Object.assign(process.env, environmentOf(lambda.url))
  try {
    const admin = lambda.client()
    await createTable(admin, 'leases')
    const { handler, saved } = await import('./readme/handler.js')
    expect(await handler({ order: '1' })).toEqual({ status: 'done' })
    const dead = await granted(lambda.store({ probe: false }), 'order/1', { ttl: 60_000 })
    expect(await handler({ order: '1' })).toEqual({ status: 'busy' })
    expect(await handler({ order: '2' })).toEqual({ status: 'done' })
    const now = lambda.time()
    // Another instance of the function knows only the mark that the first one left.
    vi.resetModules()
    lambda.time = () => now + 64_000
    const { handler: another, saved: savedByAnother } = await import('./readme/handler.js')
    expect(await another({ order: '1' })).toEqual({ status: 'done' })
    expect([...saved, ...savedByAnother].map(({ invoice }) => invoice)).toEqual([
      'invoice of 1',
      'invoice of 2',
      'invoice of 1',
    ])
    expect(savedByAnother[0]?.token).toBeGreaterThan(dead.fencingToken)
    admin.destroy()
  } finally {
    for (const name of Object.keys(environmentOf(''))) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
    await lambda.stop()
  }
})

describeMoto('the examples with transactions', () => {
  let moto: MotoServer

  beforeAll(async () => {
    moto = await MotoServer.start()
  })

  afterAll(() => moto.stop())

  it('write under the lease and the guard', async () => {
    const client = clientOf(moto.url)
    for (const [table, key] of [['leases'], ['months', 'month'], ['accounts', 'id']] as const) {
      await createTable(client, table, key)
    }
    await closeMonth(client, '2030-01', async () => 7)
    await closeMonth(client, '2030-01', async () => 8)
    const at = { TableName: 'months', Key: { month: { S: '2030-01' } } }
    expect((await client.send(new GetItemCommand(at))).Item?.total).toEqual({ N: '8' })
    const store = new DynamodbLeaseStore(client)
    const lease = createLease(store, 'accounts', durations.leaderElection)
    await lease.acquire()
    const grant = { name: 'accounts', fencingToken: lease.fencingToken ?? -1n }
    await book(client, store, grant, 'anna', 5)
    await lease.release()
    await expect(book(client, store, grant, 'anna', 5)).rejects.toMatchObject({ name: 'TransactionCanceledException' })
    await store.close()
    client.destroy()
  })
})
