import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { motoProgram } from '@leasehold/testing/moto-server'
import { startMoto } from '../../servers/moto-service.js'
import type { System } from '../system.js'
import { clientOf, TABLE } from './table.js'

const timeouts = { ttl: 3_000, heartbeatInterval: 600, operationTimeout: 900 }

/** A table of moto. */
export const dynamodbSystem: System = {
  name: 'dynamodb',
  title: 'one moto as DynamoDB, which gets one request at a time',
  whyNot: motoProgram.whyNot,
  timeouts,
  longestRecovery: 15_000,
  client: new URL('client.ts', import.meta.url),
  start: ({ clients }) =>
    startMoto({ clients, operationTimeout: timeouts.operationTimeout }, async (endpoint) => {
      const client = clientOf(endpoint)
      await client.send(
        new CreateTableCommand({
          TableName: TABLE,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
        }),
      )
      client.destroy()
    }),
}
