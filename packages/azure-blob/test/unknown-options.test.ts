import { ContainerClient } from '@azure/storage-blob'
import { AzureBlobLeaseStore, akkaBlobStore, createAzureBlobLease } from '@leasehold/azure-blob'
import { describe, expect, it } from 'vitest'

const container = new ContainerClient('http://127.0.0.1:1/account/leases')
const store = new AzureBlobLeaseStore(container)

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['AzureBlobLeaseStore', 'prefx', 'prefix', (o: object) => new AzureBlobLeaseStore(container, o)],
    ['createAzureBlobLease', 'ownr', 'owner', (o: object) => createAzureBlobLease(store, 'job', o)],
    ['createAzureBlobLease', 'ttl', 'heartbeatTimeout', (o: object) => createAzureBlobLease(store, 'job', o)],
    ['akkaBlobStore', 'peer', 'peers', (o: object) => akkaBlobStore(container, o)],
    ['peers', 'clockskew', 'clockSkew', (o: object) => akkaBlobStore(container, { peers: o })],
  ])('%s: %s, meant is %s', (of, option, meant, use) => {
    const call = (): unknown => use({ [option]: 1 })
    expect(call).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${of} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })
})
