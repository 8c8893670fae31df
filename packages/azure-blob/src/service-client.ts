import { AnonymousCredential, BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob'
import { LeaseConfigurationError } from '@leasehold/core'
import type { AzureBlobOptions } from './azure-blob-options.js'

/** What fails is repeated by the engine, which knows how long the lease is valid; the SDK would repeat beyond that. */
const pipeline = { retryOptions: { maxTries: 1 } }

/** The client of the account that the options name. Rejects with a `LeaseConfigurationError` that shows no secret. */
export async function openServiceClient(options: AzureBlobOptions): Promise<BlobServiceClient> {
  const { connectionString, account = '', accountKey, sasToken } = options
  if (connectionString !== undefined) return fromConnectionString(connectionString)
  const endpoint = options.endpoint ?? `https://${account}.blob.core.windows.net`
  if (accountKey !== undefined) {
    return new BlobServiceClient(endpoint, new StorageSharedKeyCredential(account, accountKey), pipeline)
  }
  if (sasToken !== undefined) {
    return new BlobServiceClient(`${endpoint}?${sasToken.replace(/^\?/, '')}`, new AnonymousCredential(), pipeline)
  }
  const { DefaultAzureCredential, ManagedIdentityCredential } = await importIdentity()
  const { credential, clientId } = options
  const identity = clientId === undefined ? {} : { managedIdentityClientId: clientId }
  const token =
    credential === 'default'
      ? new DefaultAzureCredential(identity)
      : new ManagedIdentityCredential(clientId === undefined ? {} : { clientId })
  return new BlobServiceClient(endpoint, token, pipeline)
}

function fromConnectionString(connectionString: string): BlobServiceClient {
  try {
    return BlobServiceClient.fromConnectionString(connectionString, pipeline)
  } catch {
    // What the SDK says may quote the string, in which the key is.
    throw new LeaseConfigurationError(
      'connectionString is none: copy it whole, as in DefaultEndpointsProtocol=https;AccountName=…;AccountKey=…',
      { store: 'azure-blob' },
    )
  }
}

async function importIdentity(): Promise<typeof import('@azure/identity')> {
  try {
    return await import('@azure/identity')
  } catch (cause) {
    throw new LeaseConfigurationError('credential needs the package @azure/identity: npm install @azure/identity', {
      store: 'azure-blob',
      cause,
    })
  }
}
