import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { motoProgram } from '@leasehold/testing/moto-server'
import { startMoto } from '../../servers/moto-service.js'
import type { System } from '../system.js'
import { clientOf, TABLE } from './table.js'

const timeouts = { ttl: 3_000, heartbeatInterval: 600, operationTimeout: 900 }

/** By how much the clocks of two servers may differ: what the store assumes. */
const clockDifference = 1_000

/**
 * A table of moto. Its clock is set further forward only with `--with set-clock-forward`: a challenger then takes over too early,
 * which is a documented limit.
 */
export const dynamodbSystem: System = {
  name: 'dynamodb',
  title: 'one moto as DynamoDB, which gets one request at a time',
  whyNot: motoProgram.whyNot,
  timeouts,
  longestRecovery: 15_000,
  client: new URL('client.ts', import.meta.url),
  start: ({ clients }) =>
    startMoto({ clients, ...timeouts, clockDifference }, async (endpoint) => {
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
