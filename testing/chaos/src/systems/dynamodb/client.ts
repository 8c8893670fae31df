import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import type { Clock } from '@leasehold/core'
import { DynamodbGuard, DynamodbLeaseStore } from '@leasehold/dynamodb'
import type { MotoSettings } from '../../servers/moto-service.js'
import { guardedWrite } from '../guarded-write.js'
import type { Connection } from '../system.js'
import { clientOf, TABLE } from './table.js'

export default function connect(
  { endpoint, operationTimeout }: MotoSettings,
  _names: readonly string[],
  clock: Clock,
): Promise<Connection> {
  const client = clientOf(endpoint)
  const store = new DynamodbLeaseStore(client, { table: TABLE, clock })
  const guard = new DynamodbGuard(client, { table: TABLE })
  return Promise.resolve({
    store,
    register: (name) => {
      const key = { name: { S: `register/${name}` } }
      return {
        write: (value, token) => {
          const put = { TableName: TABLE, Item: { ...key, content: { S: value } } }
          return guardedWrite(guard.write(name, token, put, { signal: AbortSignal.timeout(operationTimeout) }))
        },
        read: async () => {
          const get = new GetItemCommand({ TableName: TABLE, Key: key, ConsistentRead: true })
          const { Item } = await client.send(get, { abortSignal: AbortSignal.timeout(operationTimeout) })
          return Item?.content?.S
        },
      }
    },
    close: async () => {
      await store.close()
      client.destroy()
    },
  })
}
