import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { wallTime } from '@leasehold/core/store-kit'
import type { DynamodbLeaseStore } from '@leasehold/dynamodb'
import { leasesOver, type StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { TableServer } from './support/table-server.js'

let server: TableServer
/** The time of the service for each table: that of the trial. */
const times = new Map<unknown, () => number>()

beforeAll(async () => {
  server = await TableServer.start()
  server.time = (table) => times.get(table)?.() ?? wallTime()
})

afterAll(() => server.stop())

const subject: StoreSubject = {
  name: 'dynamodb',
  time: 'virtual',
  remote: true,
  clients: true,
  start: async (clock) => {
    const table = await server.table()
    let time = Date.UTC(2030, 0, 1)
    times.set(table, () => time + clock.now())
    const admin = server.client()
    const at = (name: string) => ({ TableName: table, Key: { name: { S: name } } })
    // The record is changed in a later second than that of the last grant: see Limits in the README.
    const later = () => {
      time += 1_000
    }
    return {
      open: (its): DynamodbLeaseStore => server.store({ table, clock: its, probe: false }),
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
