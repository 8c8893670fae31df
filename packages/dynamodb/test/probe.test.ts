import { createLease, durations } from '@leasehold/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { granted, listed, never } from './support/claims.js'
import { type Fate, type SeenRequest, TableServer } from './support/table-server.js'

let server: TableServer
const fates = new Map<unknown, (request: SeenRequest) => Fate>()

beforeAll(async () => {
  server = await TableServer.start()
  server.fate = (request) => fates.get(request.input.TableName)?.(request)
})

afterAll(() => server.stop())

const key = {
  KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
}

/** A table that the service describes in this way. */
async function tableWith(answers: Readonly<Record<string, object>>): Promise<string> {
  const table = await server.table()
  fates.set(table, ({ action }) => answers[action] && { output: answers[action] })
  return table
}

describe.concurrent('the check before the first grant', () => {
  it('finds a good table fit, and leaves a record that is no lease', async () => {
    const store = server.store({ table: await server.table() })
    const findings = await store.probe(never)
    expect(findings.map(({ check, result }) => [check, result])).toEqual([
      ['key', 'ok'],
      ['regions', 'ok'],
      ['clock', 'ok'],
      ['TTL', 'ok'],
      ['conditional creation', 'ok'],
      ['conditional writes', 'ok'],
      ['fresh reads', 'ok'],
      ['store times', 'ok'],
    ])
    expect(await listed(store)).toEqual([])
  })

  it('refuses a global table with eventual consistency, unless all processes use one region', async () => {
    const Table = { ...key, Replicas: [{ RegionName: 'eu-west-1' }, { RegionName: 'us-east-1' }] }
    const table = await tableWith({ DescribeTable: { Table } })
    const lease = createLease(server.store({ table }), 'a', durations.leaderElection)
    await expect(lease.acquire()).rejects.toMatchObject({
      name: 'LeaseStoreUnfitError',
      setting: 'globalTable',
      message: expect.stringMatching(/eu-west-1, us-east-1.*two owners could hold a lease.*globalTable: 'one-region'/),
    })
    const permitted = server.store({ table, globalTable: 'one-region' })
    expect(await permitted.probe(never)).toContainEqual(
      expect.objectContaining({ check: 'regions', result: 'warning' }),
    )
    await granted(permitted, 'a')
  })

  it('accepts a global table with strong consistency', async () => {
    const Table = { ...key, Replicas: [{ RegionName: 'eu-west-1' }], MultiRegionConsistency: 'STRONG' }
    await granted(server.store({ table: await tableWith({ DescribeTable: { Table } }) }), 'a')
  })

  it('refuses a table whose TTL deletes by an attribute of leases', async () => {
    const ttl = (AttributeName: string) => ({
      DescribeTimeToLive: { TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName } },
    })
    await expect(granted(server.store({ table: await tableWith(ttl('doubtedSince')) }), 'a')).rejects.toMatchObject({
      name: 'LeaseStoreUnfitError',
      setting: 'TTL',
    })
    await granted(server.store({ table: await tableWith(ttl('expires')) }), 'a')
  })

  it.each(['AccessDeniedException', 'UnknownOperationException'])(
    'goes on where the service does not answer about the table: %s',
    async (type) => {
      const table = await server.table()
      fates.set(table, ({ action }) => (action.startsWith('Describe') ? { type } : undefined))
      const store = server.store({ table })
      expect(await store.probe(never)).toContainEqual({
        check: 'key',
        result: 'unknown',
        found: 'the service does not answer dynamodb:DescribeTable of this identity',
      })
      await granted(store, 'a')
    },
  )

  it('finds a cache before the service that gives old items', async () => {
    const table = await server.table()
    const store = server.store({ table, probe: false })
    await store.probe(never)
    const writes = server.requests.filter(({ action, input }) => action === 'PutItem' && input.TableName === table)
    // The last write of the check is refused.
    const old = writes.at(-2)
    fates.set(table, ({ action }) => (action === 'GetItem' ? { output: { Item: old?.input.Item } } : undefined))
    await expect(granted(server.store({ table }), 'a')).rejects.toMatchObject({ name: 'LeaseStoreUnfitError' })
  })

  it('finds a service that ignores conditions', async () => {
    const table = await server.table()
    const lying = server.store({ table })
    fates.set(table, ({ action, input }) => {
      if (action !== 'PutItem') return undefined
      const { ConditionExpression: _, ExpressionAttributeNames: __, ExpressionAttributeValues: ___, ...blind } = input
      return { input: blind }
    })
    await expect(granted(lying, 'a')).rejects.toMatchObject({ name: 'LeaseStoreUnfitError' })
  })
})

/** For a busy machine. */
const slow = { heartbeatTimeout: 60_000, heartbeatInterval: 5_000, operationTimeout: 30_000 }

it('creates the table that is missing, once, also for many at once', async () => {
  const stores = [1, 2, 3].map(() => server.store({ table: 'made', partitionKey: 'lease', create: true }))
  const outcomes = await Promise.all(stores.map((store) => createLease(store, 'a', slow).acquire()))
  expect(outcomes.filter(Boolean)).toHaveLength(1)
})

describe('migrate', () => {
  it('creates the table that is missing, and leaves one that is there', async () => {
    const store = server.store({ table: 'migrated', partitionKey: 'lease' })
    await store.migrate()
    const grant = await granted(store, 'a')
    await store.migrate()
    expect(await store.read('a', never)).toMatchObject({ grantId: grant.grantId })
  })

  it('says that the permission is missing', async () => {
    fates.set('refused', ({ action }) => (action === 'CreateTable' ? { type: 'AccessDeniedException' } : undefined))
    await expect(server.store({ table: 'refused' }).migrate()).rejects.toMatchObject({
      name: 'LeaseUnauthorisedError',
      message: expect.stringContaining("creation of table 'refused' failed"),
    })
  })
})
