// @ts-check
/** @import { OpenedStore } from './contract.js' */
import { BlobServiceClient } from '@azure/storage-blob'
import { AzureBlobGuard, AzureBlobLeaseStore } from '@leasehold/azure-blob'

const { AZURE_STORAGE_CONNECTION_STRING = 'UseDevelopmentStorage=true' } = process.env

/** After how many milliseconds without a heartbeat another process takes over. The service needs 15 to 60 s. */
export const heartbeatTimeout = 15_000

export const advice = `Start Azurite: docker compose up -d. Or set AZURE_STORAGE_CONNECTION_STRING to that of your storage account, as the portal shows it.`

/**
 * The leases, and the data that the holder writes: blobs of one container.
 *
 * @returns {Promise<OpenedStore>}
 */
export async function openStore() {
  const container = BlobServiceClient.fromConnectionString(AZURE_STORAGE_CONNECTION_STRING).getContainerClient(
    'my-service',
  )
  // It creates the container.
  const store = new AzureBlobLeaseStore(container, { prefix: 'leases/' })
  const guard = new AzureBlobGuard(container)
  return {
    store,
    // Checks the fencing token, which is in the metadata, and writes if nobody else has written meanwhile.
    save: async (key, text, { fencingToken, signal }) => {
      await guard.write(`${key}.txt`, fencingToken, text, { signal })
    },
    close: async () => {
      await store.close()
    },
  }
}
