import type { BlobServiceClient as ServiceClient } from '@azure/storage-blob'
import { type AzureBlobOptions, misconfigured } from './azure-blob-options.js'

/** The engine repeats failed requests while the lease is valid; the SDK would repeat them for longer. */
const pipeline = { retryOptions: { maxTries: 1 } }

/**
 * The client of the account in the options. Rejects with a `LeaseConfigurationError` that shows no secret. Loads the SDK, which
 * takes longer than the rest of a program's start: users who hand in a client have loaded it themselves.
 */
export async function openServiceClient(options: AzureBlobOptions): Promise<ServiceClient> {
  const { AnonymousCredential, BlobServiceClient, StorageSharedKeyCredential } = await import('@azure/storage-blob')
  const { connectionString, account = '', accountKey, sasToken } = options
  if (connectionString !== undefined) return fromConnectionString(BlobServiceClient, connectionString)
  const endpoint = options.endpoint ?? `https://${account}.blob.core.windows.net`
  if (accountKey !== undefined) {
    return new BlobServiceClient(endpoint, new StorageSharedKeyCredential(account, accountKey), pipeline)
  }
  if (sasToken !== undefined) {
    return new BlobServiceClient(`${endpoint}?${sasToken.replace(/^\?/, '')}`, new AnonymousCredential(), pipeline)
  }
  const { DefaultAzureCredential, ManagedIdentityCredential } = await importIdentity()
  const { credential, clientId } = options
  const token =
    credential === 'default'
      ? new DefaultAzureCredential(clientId === undefined ? {} : { managedIdentityClientId: clientId })
      : new ManagedIdentityCredential(clientId === undefined ? {} : { clientId })
  return new BlobServiceClient(endpoint, token, pipeline)
}

function fromConnectionString(client: typeof ServiceClient, connectionString: string): ServiceClient {
  try {
    return client.fromConnectionString(connectionString, pipeline)
  } catch {
    // The message of the SDK can quote the string with its key.
    throw misconfigured(
      'connectionString is invalid: copy all of it, as in DefaultEndpointsProtocol=https;AccountName=…;AccountKey=…',
    )
  }
}

async function importIdentity(): Promise<typeof import('@azure/identity')> {
  try {
    return await import('@azure/identity')
  } catch (cause) {
    throw misconfigured('credential needs the package @azure/identity: npm install @azure/identity', cause)
  }
}
