import { EtcdClient, EtcdGuard, EtcdLeaseStore } from '@leasehold/etcd'
import { afterAll, describe, expect, it } from 'vitest'

/** Never connected. */
const client = new EtcdClient()

afterAll(() => client.close())

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['EtcdClient', 'endpoint', 'endpoints', (o: object) => new EtcdClient(o)],
    ['EtcdLeaseStore', 'prefex', 'prefix', (o: object) => new EtcdLeaseStore(client, o)],
    ['EtcdGuard', 'prefex', 'prefix', (o: object) => new EtcdGuard(client, o)],
    ['EtcdGuard.transact', 'wen', 'when', (o: object) => new EtcdGuard(client).transact('k', 1n, { write: [], ...o })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})
