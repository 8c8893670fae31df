/** One of the four processes, on a lease of Azure Blob Storage: `worker.ts FOLDER NAME`. */
import { BlobServiceClient } from '@azure/storage-blob'
import { AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'
import { runWorker } from '@leasehold/example-failover'
import { BlobLedger } from './blob-ledger.js'

const [folder = '', name = ''] = process.argv.slice(2)
const { AZURE_STORAGE_CONNECTION_STRING = '', LEASEHOLD_CONTAINER = '' } = process.env

// #region lease
const service = BlobServiceClient.fromConnectionString(AZURE_STORAGE_CONNECTION_STRING)
const container = service.getContainerClient(LEASEHOLD_CONTAINER)
const store = new AzureBlobLeaseStore(container, { prefix: 'leases/' })
const lease = createAzureBlobLease(store, 'ledger', {
  owner: name,
  heartbeatTimeout: 15_000,
  heartbeatInterval: 2_000,
  operationTimeout: 4_000,
})
// #endregion lease
await runWorker({ folder, name, lease, store, ledger: new BlobLedger(container) })
