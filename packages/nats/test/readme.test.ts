import { LeaseLostError } from '@leasehold/core'
import { NatsGuard } from '@leasehold/nats'
import { turnsOf } from '@leasehold/testing'
import { describeNats } from '@leasehold/testing/describe-nats'
import { NatsServer } from '@leasehold/testing/nats-server'
import { type KV, Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { countVisit } from './readme/count-visits.js'
import { publishPrices } from './readme/publish-prices.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

describeNats('the examples of the documents', () => {
  let server: NatsServer
  let connection: NatsConnection
  let kv: KV

  beforeAll(async () => {
    server = await NatsServer.start()
    connection = await connect({ servers: server.url })
    kv = await new Kvm(connection).create('prices')
  })

  afterAll(async () => {
    await connection.close()
    await server.stop()
  })

  it('gives two processes with the first program of the guide their turns', async () => {
    expect(new Set(await turnsOf(firstLease, { NATS_URL: server.url })).size).toBe(2)
  })

  it('writes under the lease and the guard', async () => {
    for (const prices of ['first', 'second']) await publishPrices(connection, async () => prices)
    expect((await kv.get('latest'))?.string()).toBe('second')
    expect((await new Kvm(connection).open('leasehold')).get('price-list')).toBeDefined()
  })

  it('changes a value under the guard', async () => {
    const guard = new NatsGuard(connection, { bucket: 'prices' })
    for (const token of [5n, 5n, 6n]) await countVisit(guard, token)
    await expect(countVisit(guard, 4n)).rejects.toThrow(LeaseLostError)
    expect((await kv.get('visits'))?.string()).toBe('3')
  })
})
