import { ContainerClient } from '@azure/storage-blob'
import { AzureBlobLeaseStore, akkaBlobStore, breakLeaseIf, createAzureBlobLease } from '@leasehold/azure-blob'
import { describe, expect, it } from 'vitest'

const container = new ContainerClient('http://127.0.0.1:1/account/leases')
const store = new AzureBlobLeaseStore(container)
const lease = createAzureBlobLease(store, 'job', { heartbeatTimeout: 30_000 })

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['AzureBlobLeaseStore', 'prefx', 'prefix', (o: object) => new AzureBlobLeaseStore(container, o)],
    ['createAzureBlobLease', 'ownr', 'owner', (o: object) => createAzureBlobLease(store, 'job', o)],
    ['createAzureBlobLease', 'ttl', 'heartbeatTimeout', (o: object) => createAzureBlobLease(store, 'job', o)],
    ['breakLeaseIf', 'condition', 'conditions', (o: object) => breakLeaseIf(store, 'job', o)],
    ['renew', 'condition', 'conditions', (o: object) => lease.renew(o)],
    ['release', 'metaData', 'metadata', (o: object) => lease.release(o)],
    ['handOff', 'condition', 'conditions', (o: object) => lease.handOff(o)],
    ['conditions', 'ifmatch', 'ifMatch', (o: object) => breakLeaseIf(store, 'job', { conditions: o })],
    ['akkaBlobStore', 'peer', 'peers', (o: object) => akkaBlobStore(container, o)],
    ['peers', 'clockskew', 'clockSkew', (o: object) => akkaBlobStore(container, { peers: o })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})
