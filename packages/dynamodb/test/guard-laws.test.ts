import { randomUUID } from 'node:crypto'
import { type DynamoDBClient, GetItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { DynamodbGuard, type DynamodbWrite } from '@leasehold/dynamodb'
import { describeMoto } from '@leasehold/testing/describe-moto'
import { MotoServer } from '@leasehold/testing/moto-server'
import type { GuardSubject } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { clientOf, createTable, oneAtATime } from './support/table-server.js'

describeMoto('the guard of', () => {
  let server: MotoServer
  let client: DynamoDBClient

  beforeAll(async () => {
    server = await MotoServer.start()
    client = clientOf(server.url, { requestHandler: oneAtATime })
    await createTable(client, 'leases')
    await createTable(client, 'reports', 'id')
  })

  afterAll(async () => {
    client.destroy()
    await server.stop()
  })

  const subject: GuardSubject = {
    name: 'dynamodb',
    start: () => {
      const resource = randomUUID()
      const at = { TableName: 'reports', Key: { id: { S: resource } } }
      const put = (value: string) => ({ TableName: 'reports', Item: { id: { S: resource }, value: { S: value } } })
      const invalid: DynamodbWrite[] = [{ Update: { ...at, UpdateExpression: 'SET' } }]
      return {
        open: () => {
          const guard = new DynamodbGuard(client)
          return {
            write: (value: string, token: bigint) => guard.write(resource, token, put(value)),
            delete: (token: bigint) => guard.transact(resource, token, [{ Delete: at }]),
          }
        },
        ownFailures: [
          {
            name: 'an expression that is not valid',
            guarded: (_, token) => new DynamodbGuard(client).transact(resource, token, invalid),
            unguarded: () => client.send(new TransactWriteItemsCommand({ TransactItems: invalid })),
          },
        ],
        read: async () => (await client.send(new GetItemCommand({ ...at, ConsistentRead: true }))).Item?.value?.S,
      }
    },
  }

  describeGuardLaws(subject)
})
