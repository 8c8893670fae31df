import { createLease, LeaseHeldError } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DynamodbRegister } from '../src/dynamodb-register.js'
import { LeaseTable } from '../src/lease-table.js'
import { claimOf, granted, never, TTL } from './support/claims.js'
import { TableServer } from './support/table-server.js'

let server: TableServer
/** The time of the service. It is given in whole seconds. */
let time = Date.UTC(2030, 0, 1)

beforeAll(async () => {
  server = await TableServer.start()
  server.time = () => time
})

afterAll(() => server.stop())

describe('challengers that live for less than a ttl', () => {
  /** Each challenger is a process of its own that asks once. */
  const challenge = async (table: string, options = {}) =>
    (await server.store({ table, clock: new VirtualClock(), probe: false, ...options }).acquire(claimOf('a'), never))
      .granted

  it('replace a dead holder: the second of them, when the ttl and the error of the clocks have passed', async () => {
    const table = await server.table()
    await granted(server.store({ table, probe: false }), 'a')
    time += 60_000
    expect(await challenge(table)).toBe(false)
    // The ttl, a second for the clocks, and two for times that are whole seconds.
    time += TTL + 2_000
    expect(await challenge(table)).toBe(false)
    time += 2_000
    expect(await challenge(table)).toBe(true)
  })

  it('never replace a holder that renews', async () => {
    const table = await server.table()
    const holder = server.store({ table, probe: false })
    const grant = await granted(holder, 'a')
    for (let round = 0; round < 10; round += 1) {
      expect(await challenge(table)).toBe(false)
      expect(await holder.renew(grant, never)).toEqual({ renewed: true })
      time += TTL
    }
    expect(await challenge(table)).toBe(false)
  })

  it('keep the first mark of a version: the many after it do not begin again', async () => {
    const table = await server.table()
    await granted(server.store({ table, probe: false }), 'a')
    for (let passed = 0; passed < TTL + 3_000; passed += 1_000) {
      expect(await challenge(table)).toBe(false)
      time += 1_000
    }
    time += 1_000
    expect(await challenge(table)).toBe(true)
  })

  it('wait longer where the clocks of the servers may differ by more', async () => {
    const table = await server.table()
    await granted(server.store({ table, probe: false }), 'a')
    const options = { clockDifference: 30_000 }
    expect(await challenge(table, options)).toBe(false)
    time += TTL + 30_000
    expect(await challenge(table, options)).toBe(false)
    time += 4_000
    expect(await challenge(table, options)).toBe(true)
  })

  it('compare no times with an infinite difference of the clocks: each observes the item itself', async () => {
    const table = await server.table()
    await granted(server.store({ table, probe: false }), 'a')
    const options = { clockDifference: Number.POSITIVE_INFINITY }
    expect(await challenge(table, options)).toBe(false)
    time += 10 * TTL
    expect(await challenge(table, options)).toBe(false)
    expect(await server.countOf(table, () => challenge(table, options))).toEqual({ GetItem: 1 })
    const clock = new VirtualClock()
    const store = server.store({ table, clock, probe: false, ...options })
    await store.read('a', never)
    await clock.advance(TTL * 1.1)
    await granted(store, 'a')
  })

  it('of two marks that are made at once, the first counts', async () => {
    const table = await server.table()
    await granted(server.store({ table, probe: false }), 'a')
    const leases = new LeaseTable(server.client(), { table, partitionKey: 'name' })
    const register = new DynamodbRegister(leases, 0)
    const { version = '' } = (await register.read('a', never)) ?? {}
    await register.doubt?.('a', version, time, never)
    await register.doubt?.('a', version, time + 5_000, never)
    expect(await register.read('a', never)).toMatchObject({ version, doubtedSince: time })
    await expect(register.doubt?.('a', 'another', time, never)).resolves.toBeUndefined()
  })

  it('a mark that comes after a heartbeat changes nothing', async () => {
    const table = await server.table()
    const holder = server.store({ table, probe: false })
    const grant = await granted(holder, 'a')
    let item: unknown
    // The holder renews between the read of the challenger and its mark.
    server.fate = ({ action, input }) => {
      if (action !== 'UpdateItem' || input.TableName !== table || item !== undefined) return undefined
      item = input
      return { type: 'ConditionalCheckFailedException' }
    }
    expect(await challenge(table)).toBe(false)
    expect(item).toMatchObject({ ConditionExpression: '#version = :version' })
    server.fate = () => undefined
    expect(await holder.renew(grant, never)).toEqual({ renewed: true })
    time += 60_000
    expect(await challenge(table)).toBe(false)
  })
})

it('tokens follow the clock of the service, not that of this machine', async () => {
  const table = await server.table()
  const store = server.store({ table, clock: new VirtualClock(), probe: false })
  const { fencingToken } = await granted(store, 'a')
  expect(fencingToken).toBe(BigInt(time))
})

it('a single try that is refused says who holds the lease', async () => {
  const table = await server.table()
  await granted(server.store({ table, probe: false }), 'a', { owner: 'dead' })
  const lease = createLease(server.store({ table, probe: false }), 'a', { heartbeatTimeout: TTL, strategy: 'manual' })
  await expect(lease.run(async () => {})).rejects.toBeInstanceOf(LeaseHeldError)
})
