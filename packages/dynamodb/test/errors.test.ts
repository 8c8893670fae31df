import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { DynamodbLeaseStore } from '@leasehold/dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimOf, granted, listed, never } from './support/claims.js'
import { createTable, type Fate, type SeenRequest, TableServer } from './support/table-server.js'

let server: TableServer
/** The fates of the requests to a table. */
const fates = new Map<unknown, (request: SeenRequest) => Fate>()

beforeAll(async () => {
  server = await TableServer.start()
  server.fate = (request) => fates.get(request.input.TableName)?.(request)
})

afterAll(() => server.stop())

/** A store whose requests all have this fate. */
async function storeThatMeets(
  fate: Fate,
  isFor: (action: string) => boolean = () => true,
): Promise<DynamodbLeaseStore> {
  const table = await server.table()
  fates.set(table, ({ action }) => (isFor(action) ? fate : undefined))
  return server.store({ table, probe: false })
}

describe.concurrent('each error of the service is a typed error that says what to do', () => {
  it.each<[string, Fate, string, string]>([
    [
      'too many requests for the table',
      { type: 'ProvisionedThroughputExceededException', message: 'slow down' },
      'LeaseUnavailableError',
      'Nothing was written. It is repeated later; if it stays so, raise the capacity of table',
    ],
    ['a limit', { type: 'RequestLimitExceeded' }, 'LeaseUnavailableError', 'raise the capacity'],
    [
      'no permission',
      { type: 'AccessDeniedException', message: 'User x is not authorized to perform: dynamodb:GetItem' },
      'LeaseUnauthorisedError',
      'the identity needs this statement in its policy: {"Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:PutItem"',
    ],
    [
      'expired credentials',
      { type: 'ExpiredTokenException', message: 'The security token included in the request is expired' },
      'LeaseUnauthorisedError',
      'Give the client a provider that renews them',
    ],
    ['unknown keys', { type: 'UnrecognizedClientException' }, 'LeaseUnauthorisedError', 'check the credentials'],
    [
      'a wrong signature',
      { type: 'InvalidSignatureException', message: 'Signature expired' },
      'LeaseUnauthorisedError',
      'the clock of this machine',
    ],
    ['a transaction at work', { type: 'TransactionConflictException' }, 'LeaseUnavailableError', 'try again'],
    ['a failure of the service', { status: 500, type: 'InternalServerError' }, 'LeaseUnavailableError', 'try again'],
    ['an answer that is lost', 'lost', 'LeaseUnavailableError', 'The request may have been applied'],
  ])('%s', async (_, fate, name, message) => {
    const store = await storeThatMeets(fate)
    const error = await store.read('a', never).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name, leaseName: 'a', store: 'dynamodb', message: expect.stringContaining(message) })
    expect(error).toHaveProperty('message', expect.stringMatching(/^read of lease 'a' failed: /))
  })

  it('a pause that the service asks for', async () => {
    const type = 'ThrottlingException'
    const seconds = await storeThatMeets({ type, headers: { 'retry-after': '3' } })
    await expect(seconds.read('a', never)).rejects.toMatchObject({ retryAfter: 3_000 })
    const milliseconds = await storeThatMeets({ type, headers: { 'x-amz-retry-after': '250' } })
    await expect(milliseconds.read('a', never)).rejects.toMatchObject({ retryAfter: 250 })
    const none = await storeThatMeets({ type })
    await expect(none.read('a', never)).rejects.toMatchObject({ retryAfter: undefined })
  })

  it('a table that does not exist: the command that creates it', async () => {
    const store = server.store({ table: 'missing', partitionKey: 'id' })
    await expect(store.acquire(claimOf('a'), never)).rejects.toMatchObject({
      name: 'LeaseConfigurationError',
      message: expect.stringContaining(
        'aws dynamodb create-table --table-name missing --attribute-definitions AttributeName=id,AttributeType=S ' +
          '--key-schema AttributeName=id,KeyType=HASH --billing-mode PAY_PER_REQUEST',
      ),
    })
  })

  it('a table with a sort key, or with another partition key', async () => {
    const admin = server.client()
    await createTable(admin, 'sorted', 'name', 'sk')
    const probed = server.store({ table: 'sorted' })
    await expect(probed.acquire(claimOf('a'), never)).rejects.toMatchObject({
      name: 'LeaseStoreUnfitError',
      message: expect.stringMatching(/the key of the table is name \(HASH\), sk \(RANGE\).*without a sort key/),
      setting: 'partitionKey',
    })
    await expect(server.store({ table: 'sorted', probe: false }).read('a', never)).rejects.toMatchObject({
      name: 'LeaseConfigurationError',
      message: expect.stringContaining("must be the partition key 'name' of type String, without a sort key"),
    })
    const other = server.store({ table: await server.table(), partitionKey: 'id', probe: false })
    await expect(other.read('a', never)).rejects.toMatchObject({
      name: 'LeaseConfigurationError',
      message: expect.stringContaining("must be the partition key 'id'"),
    })
    admin.destroy()
  })

  it('an item of another program is no free lease, and is not overwritten', async () => {
    const table = await server.table()
    const admin = server.client()
    await admin.send(new PutItemCommand({ TableName: table, Item: { name: { S: 'a' }, data: { S: 'mine' } } }))
    const store = server.store({ table })
    await expect(store.acquire(claimOf('a'), never)).rejects.toMatchObject({
      name: 'LeaseConfigurationError',
      message: expect.stringContaining("the entry of 'a' in the dynamodb store is no lease record"),
    })
    expect(await listed(store)).toEqual([])
    admin.destroy()
  })

  it('answers without a date: no token, and so no grant', async () => {
    const undated = await TableServer.start()
    undated.isDated = false
    const store = undated.store({ table: await undated.table() })
    await expect(store.acquire(claimOf('a'), never)).rejects.toMatchObject({
      name: 'LeaseConfigurationError',
      message: expect.stringContaining('have no Date header'),
    })
    await undated.stop()
  })

  it('nobody listens, no region, no credentials', async () => {
    const down = server.store({ probe: false }, { endpoint: 'http://127.0.0.1:1' })
    await expect(down.read('a', never)).rejects.toMatchObject({
      name: 'LeaseUnavailableError',
      message: expect.stringMatching(/ECONNREFUSED.*The service cannot be reached: check the endpoint/),
    })
    const credentials = async () => {
      throw Object.assign(new Error('Could not load credentials from any providers'), {
        name: 'CredentialsProviderError',
      })
    }
    await expect(server.store({ probe: false }, { credentials }).read('a', never)).rejects.toMatchObject({
      name: 'LeaseUnauthorisedError',
      message: expect.stringContaining('check the credentials'),
    })
    const region = async () => {
      throw new Error('Region is missing')
    }
    await expect(server.store({ probe: false }, { region }).read('a', never)).rejects.toMatchObject({
      name: 'LeaseConfigurationError',
      message: expect.stringContaining('Region is missing: set AWS_REGION'),
    })
  })
})

describe.concurrent('the outcome of a write is settled', () => {
  it('a write whose answer was lost, and that the client repeats, is recognised by its version', async () => {
    const table = await server.table()
    const store = server.store({ table, probe: false }, { maxAttempts: 3 })
    const grant = await granted(store, 'a')
    let lost = 0
    fates.set(table, ({ action }) => (action === 'PutItem' && lost++ === 0 ? 'lost' : undefined))
    const counts = await server.countOf(table, async () =>
      expect(await store.renew(grant, never)).toEqual({ renewed: true }),
    )
    expect(lost).toBe(2)
    expect(counts.GetItem).toBeUndefined()
  })

  it('a grant whose answer was lost is found by its grant id', async () => {
    const table = await server.table()
    const store = server.store({ table, probe: false })
    const claim = claimOf('a')
    await store.release(await granted(store, 'a'), never)
    let lost = 0
    fates.set(table, ({ action }) => (action === 'PutItem' && lost++ === 0 ? 'lost' : undefined))
    await expect(store.acquire(claim, never)).rejects.toMatchObject({ name: 'LeaseUnavailableError' })
    expect(await store.acquire(claim, never)).toMatchObject({ granted: true, grant: { grantId: claim.grantId } })
  })

  it('a request ends with its call, also while the client pauses, or waits for credentials', async () => {
    const table = await server.table()
    const noCredentials = () => new Promise<never>(() => {})
    for (const [fate, config] of [
      ['hang', {}],
      [{ type: 'ThrottlingException' }, { maxAttempts: 10 }],
      [undefined, { credentials: noCredentials }],
    ] satisfies [Fate, object][]) {
      const store = server.store({ table, probe: false }, config)
      fates.set(table, () => fate)
      const call = new AbortableCall()
      const reading = store.read('a', call)
      const reason = new Error('the time is up')
      systemClock.schedule(50, () => call.abort(reason))
      await expect(reading).rejects.toBe(reason)
      expect(call.listeners).toBe(0)
    }
  })
})
