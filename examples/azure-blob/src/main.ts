/**
 * The failover demo on leases of Azure Blob Storage: on Azurite, or on the account that AZURE_STORAGE_CONNECTION_STRING
 * names. Exits 0 if every figure of its summary holds.
 */
import { randomUUID } from 'node:crypto'
import { BlobServiceClient } from '@azure/storage-blob'
import { runDemo } from '@leasehold/example-failover'
import { startAzurite } from './azurite.js'
import { readBlobLedger } from './blob-ledger.js'

const own = process.env.AZURE_STORAGE_CONNECTION_STRING
const azurite = own === undefined ? await startAzurite() : undefined
const connection = own ?? azurite?.connectionString ?? ''

// For the four processes.
process.env.AZURE_STORAGE_CONNECTION_STRING = connection
process.env.LEASEHOLD_CONTAINER = `leasehold-demo-${randomUUID()}`

const container = BlobServiceClient.fromConnectionString(connection).getContainerClient(process.env.LEASEHOLD_CONTAINER)
try {
  process.exitCode = await runDemo({
    worker: new URL('./worker.ts', import.meta.url),
    ttl: 15_000,
    // Waiters poll about every second.
    longestHandOver: 6_000,
    readLedger: () => readBlobLedger(container),
  })
} finally {
  await container.deleteIfExists()
  azurite?.stop()
}
