import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamodbLeaseStore } from '@leasehold/dynamodb'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { TableServer } from './support/table-server.js'

let server: TableServer
/** The service of the laws has a clock that goes on by a second with each request: times of the service are whole seconds. */
let time = Date.UTC(2030, 0, 1)

beforeAll(async () => {
  server = await TableServer.start()
  server.time = () => time
})

afterAll(() => server.stop())

const subject: StoreSubject = {
  name: 'dynamodb',
  time: 'virtual',
  remote: true,
  clients: true,
  start: async () => {
    const table = await server.table()
    const admin = server.client()
    const at = (name: string) => ({ TableName: table, Key: { name: { S: name } } })
    // The record is changed in a later second than that of the last grant: see Limits in the README.
    const later = () => {
      time += 1_000
    }
    return {
      open: (clock): DynamodbLeaseStore => server.store({ table, clock, probe: false }),
      delete: async (name) => {
        await admin.send(new DeleteItemCommand(at(name)))
        later()
      },
      copy: async (name) => {
        const { Item } = await admin.send(new GetItemCommand({ ...at(name), ConsistentRead: true }))
        return async () => {
          await admin.send(new PutItemCommand({ TableName: table, Item }))
          later()
        }
      },
      stop: () => admin.destroy(),
    }
  },
}

describeStoreLaws(subject)
describeLeaseLaws(leasesOver(subject))
