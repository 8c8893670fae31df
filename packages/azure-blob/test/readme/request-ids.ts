// #region ids
import { randomUUID } from 'node:crypto'
import type { ContainerClient } from '@azure/storage-blob'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'

export function createStore(container: ContainerClient): AzureBlobLeaseStore {
  return new AzureBlobLeaseStore(container, {
    clientRequestId: ({ operation }) => `billing ${operation} ${randomUUID()}`,
  })
}
// #endregion ids
