import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { createLease, LeaseUnauthorisedError, type StoreLease } from '@leasehold/core'
import { wallTime } from '@leasehold/core/store-kit'
import { DynamodbLeaseStore } from '@leasehold/dynamodb'
import { eventually, silentLogger } from '@leasehold/testing'
import { describeMoto } from '@leasehold/testing/describe-moto'
import { MotoServer } from '@leasehold/testing/moto-server'
import { TcpProxy } from '@leasehold/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { granted, never } from './support/claims.js'
import { clientOf, createTable, type Fate, type SeenRequest, TableServer } from './support/table-server.js'

/** Of the leases, in milliseconds. */
const times = { heartbeatTimeout: 12_000, heartbeatInterval: 500, operationTimeout: 4_000 }

/** What happened to the lease. */
function eventsOf(lease: StoreLease): string[] {
  const events: string[] = []
  for (const name of ['jeopardy', 'recovered'] as const) lease.on(name, () => events.push(name))
  lease.on('lost', ({ reason }) => events.push(`lost: ${reason}`))
  return events
}

let server: TableServer
const fates = new Map<unknown, (request: SeenRequest) => Fate>()

beforeAll(async () => {
  server = await TableServer.start()
  server.fate = (request) => fates.get(request.input.TableName)?.(request)
})

afterAll(() => server.stop())

/** A lease that is held, over a table of its own. */
async function held() {
  const table = await server.table()
  const store = server.store({ table, probe: false })
  const lease = createLease(store, 'job', { ...times, logger: silentLogger })
  const events = eventsOf(lease)
  expect(await lease.acquire()).toBe(true)
  return { table, store, lease, events }
}

describe.concurrent('a held lease', () => {
  it.each<[string, Fate]>([
    ['throttling', { type: 'ProvisionedThroughputExceededException' }],
    ['credentials that expire', { type: 'ExpiredTokenException' }],
    ['a permission that is taken away', { type: 'AccessDeniedException' }],
    ['failures of the service', { status: 503, type: 'ServiceUnavailable' }],
    ['connections that break', 'lost'],
  ])('survives %s for less than its validity', async (_, fate) => {
    const { table, lease, events } = await held()
    fates.set(table, () => fate)
    await eventually('the lease is in jeopardy', async () => lease.state === 'jeopardy')
    fates.delete(table)
    await eventually('the lease has recovered', async () => lease.state === 'held')
    expect(events).toEqual(['jeopardy', 'recovered'])
    await lease.release()
  })

  it('is lost before another owner is granted it, where a partition hangs', async () => {
    const { table, lease, events } = await held()
    // The holder has one of two clients, and its requests hang.
    fates.set(table, ({ action, input }) =>
      action === 'PutItem' && JSON.stringify(input.Item).includes(lease.settings.owner) ? 'hang' : undefined,
    )
    const other = createLease(server.store({ table, probe: false }), 'job', { ...times, logger: silentLogger })
    expect(await other.acquire({ wait: 60_000 })).toBe(true)
    expect(lease.checkLease()).toBe(false)
    expect(events).toContain('lost: expired')
    await other.release()
  })
})

describe.concurrent('a clock of this machine that is an hour wrong', () => {
  it.each([3_600_000, -3_600_000])('is corrected by the client: by %i ms', async (error) => {
    const elsewhere = await TableServer.start()
    // It is the service that has another time here: the machine of the tests has only one clock.
    elsewhere.time = () => wallTime() + error
    const table = await elsewhere.table()
    // The service rejects signatures that are more than 5 minutes from its time.
    elsewhere.fate = ({ signedAt }) =>
      Math.abs(Date.parse(signedAt) - elsewhere.time()) < 300_000
        ? undefined
        : { type: 'InvalidSignatureException', message: 'Signature not yet current' }
    const options = { table, probe: false }
    const repeating = elsewhere.store(options, { maxAttempts: 3 })
    const grant = await granted(repeating, 'job')
    expect(Math.abs(Number(grant.fencingToken) - elsewhere.time())).toBeLessThan(60_000)
    // A client that makes one attempt learns the time from it.
    const once = elsewhere.store(options)
    await expect(once.read('job', never)).rejects.toMatchObject({
      name: 'LeaseUnauthorisedError',
      message: expect.stringContaining('the clock of this machine'),
    })
    expect(await once.read('job', never)).toMatchObject({ grantId: grant.grantId })
    await elsewhere.stop()
  })
})

it('an error has no part of the request, whose headers have the token of the session', async () => {
  const table = await server.table()
  fates.set(table, () => ({ type: 'AccessDeniedException' }))
  const credentials = { accessKeyId: 'key', secretAccessKey: 'hidden', sessionToken: 'session-token' }
  const store = server.store({ table, probe: false }, { credentials })
  const error = await store.read('a', never).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(LeaseUnauthorisedError)
  expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/session-token|hidden|Signature=/)
})

describeMoto('a real server', () => {
  let moto: MotoServer

  beforeAll(async () => {
    moto = await MotoServer.start()
  })

  afterAll(() => moto.stop())

  it('that is cut off, slow, or gone: the lease survives short faults, and ends in time', async () => {
    const way = await TcpProxy.to(moto.port)
    const client = clientOf(`http://127.0.0.1:${way.port}`)
    await createTable(client, 'leases')
    const store = new DynamodbLeaseStore(client)
    const lease = createLease(store, randomUUID(), { ...times, logger: silentLogger })
    const events = eventsOf(lease)
    expect(await lease.acquire()).toBe(true)
    way.slowDown(200)
    expect(await lease.renew()).toBe(true)
    way.slowDown(0)
    way.blackHole()
    await eventually('the lease is in jeopardy', async () => lease.state === 'jeopardy')
    way.heal()
    await eventually('the lease has recovered', async () => lease.state === 'held')
    expect(events).toEqual(['jeopardy', 'recovered'])
    await moto.kill()
    await eventually('the lease is lost', async () => lease.state === 'idle')
    expect(lease.checkLease()).toBe(false)
    expect(events.at(-1)).toBe('lost: expired')
    client.destroy()
    await way.close()
  })
})
