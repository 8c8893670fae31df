/** A process of its own that takes one lease and holds it until it is killed: `holder.ts CONNECTION CONTAINER NAME TTL`. */
import { randomUUID } from 'node:crypto'
import { BlobServiceClient } from '@azure/storage-blob'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { AbortableCall } from '@leasehold/core/store'

const [connection = '', container = '', name = '', ttl = ''] = process.argv.slice(2)
// It must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const service = BlobServiceClient.fromConnectionString(connection)
const store = new AzureBlobLeaseStore(service.getContainerClient(container))
const request = { name, owner: 'elsewhere', grantId: randomUUID(), ttl: Number(ttl) }
const outcome = await store.acquire(request, new AbortableCall())
process.stdout.write(outcome.granted ? String(outcome.grant.fencingToken) : 'refused')
