import { LeaseProvider } from '@leasehold/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TableServer } from './support/table-server.js'

let server: TableServer
const keys = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' }
const before = Object.keys(keys).map((name) => [name, process.env[name]] as const)

beforeAll(async () => {
  Object.assign(process.env, keys)
  server = await TableServer.start()
})

afterAll(async () => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  await server.stop()
})

describe('leases by a configuration', () => {
  it('are held in a table that is created, over one client', async () => {
    const block = {
      'lease-class': '@leasehold/dynamodb',
      table: 'by-config',
      'partition-key': 'lease',
      create: 'on',
      region: 'eu-west-1',
      endpoint: server.url,
    }
    const provider = new LeaseProvider({ leasehold: { dynamodb: block } })
    const leases = [
      await provider.getLease('one', 'leasehold.dynamodb'),
      await provider.getLease('other', 'leasehold.dynamodb'),
    ]
    expect(await Promise.all(leases.map((lease) => lease.acquire()))).toEqual([true, true])
    const puts = server.requests.filter(({ input }) => input.TableName === 'by-config')
    expect(puts.some(({ input }) => JSON.stringify(input.Item ?? {}).includes('"lease":{"S":"other"}'))).toBe(true)
    await provider.close()
  })
})
