import { randomUUID } from 'node:crypto'
import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { createLease, durations } from '@leasehold/core'
import { DynamodbGuard, DynamodbLeaseStore } from '@leasehold/dynamodb'
import { describeMoto } from '@leasehold/testing/describe-moto'
import { MotoServer } from '@leasehold/testing/moto-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { never } from './support/claims.js'
import { clientOf, createTable, oneAtATime } from './support/table-server.js'

describeMoto('writes under a lease', () => {
  let server: MotoServer
  let client: DynamoDBClient

  beforeAll(async () => {
    server = await MotoServer.start()
    client = clientOf(server.url, { requestHandler: oneAtATime })
    await createTable(client, 'leases')
    await createTable(client, 'accounts', 'id')
  })

  afterAll(async () => {
    client.destroy()
    await server.stop()
  })

  const put = (id: string, text: string) => ({
    TableName: 'accounts',
    Item: { id: { S: id }, text: { S: text } },
  })
  const textOf = async (id: string) =>
    (await client.send(new GetItemCommand({ TableName: 'accounts', Key: { id: { S: id } }, ConsistentRead: true })))
      .Item?.text?.S

  it.concurrent('a transaction with the condition of the lease is written while the lease is held, and not after', async () => {
    const id = randomUUID()
    const store = new DynamodbLeaseStore(client)
    const lease = createLease(store, id, durations.leaderElection)
    await lease.acquire()
    const grant = { name: id, fencingToken: lease.fencingToken ?? -1n }
    const write = (text: string) =>
      client.send(new TransactWriteItemsCommand({ TransactItems: [store.condition(grant), { Put: put(id, text) }] }))
    await write('held')
    expect(await lease.renew()).toBe(true)
    await write('renewed')
    await lease.release()
    const refused = {
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }, { Code: 'None' }],
    }
    await expect(write('released')).rejects.toMatchObject(refused)
    expect(await createLease(store, id, durations.leaderElection).acquire()).toBe(true)
    await expect(write('taken over')).rejects.toMatchObject(refused)
    expect(await textOf(id)).toBe('renewed')
    await store.close()
  })

  it('the condition has plain values for the document client', () => {
    const store = new DynamodbLeaseStore(client)
    expect(store.condition({ name: 'a', fencingToken: 7n }, { native: true }).ConditionCheck).toMatchObject({
      Key: { name: 'a' },
      ExpressionAttributeValues: { ':fencingToken': 7n },
    })
  })

  it.concurrent('several writes happen together or not at all, and the reasons have the places of the writes', async () => {
    const [one, other] = [randomUUID(), randomUUID()]
    const guard = new DynamodbGuard(client)
    await guard.transact(one, 5n, [{ Put: put(one, 'a') }, { Put: put(other, 'b') }])
    await expect(
      guard.transact(one, 5n, [
        { Put: put(one, 'c') },
        { Put: { ...put(other, 'd'), ConditionExpression: 'attribute_not_exists(id)' } },
      ]),
    ).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }, { Code: 'None' }],
    })
    await expect(guard.transact(one, 4n, [{ Put: put(one, 'e') }])).rejects.toMatchObject({
      name: 'LeaseLostError',
      message: expect.stringContaining('is older than 5'),
    })
    expect([await textOf(one), await textOf(other)]).toEqual(['a', 'b'])
  })

  it.concurrent('the pattern with a token in the own item of the user rejects an older token', async () => {
    const id = randomUUID()
    const write = (token: bigint, text: string) =>
      client.send(
        new PutItemCommand({
          TableName: 'accounts',
          Item: { id: { S: id }, text: { S: text }, token: { N: String(token) } },
          ConditionExpression: 'attribute_not_exists(#token) OR #token <= :token',
          ExpressionAttributeNames: { '#token': 'token' },
          ExpressionAttributeValues: { ':token': { N: String(token) } },
        }),
      )
    await write(5n, 'new')
    await expect(write(4n, 'late')).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' })
    expect(await textOf(id)).toBe('new')
  })

  it.concurrent('a fence is no lease: it is not listed, and no lease can have its name', async () => {
    const id = randomUUID()
    await new DynamodbGuard(client).write(id, 5n, put(id, 'a'))
    const store = new DynamodbLeaseStore(client)
    await expect(store.read(`leasehold-fence/${id}`, never)).rejects.toMatchObject({
      name: 'LeaseNameError',
      message: expect.stringContaining('reserved'),
    })
    for await (const { name } of store.list?.('', never) ?? []) expect(name).not.toContain(id)
    await store.close()
  })
})
