import { BlobServiceClient, RestError } from '@azure/storage-blob'
import { AzureBlobGuard, AzureBlobLeaseStore } from '@leasehold/azure-blob'
import type { Clock } from '@leasehold/core'
import { guardedWrite } from '../guarded-write.js'
import type { Connection } from '../system.js'
import { type AzureBlobSettings, containers } from './settings.js'

export default function connect(
  { connectionString, operationTimeout }: AzureBlobSettings,
  _names: readonly string[],
  clock: Clock,
): Promise<Connection> {
  const service = BlobServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } })
  const store = new AzureBlobLeaseStore(service.getContainerClient(containers.leases), { clock })
  const registers = service.getContainerClient(containers.registers)
  const guard = new AzureBlobGuard(registers)
  return Promise.resolve({
    store,
    register: (name) => ({
      write: (value, token) =>
        guardedWrite(guard.write(name, token, value, { signal: AbortSignal.timeout(operationTimeout) })),
      read: async () => {
        const options = { abortSignal: AbortSignal.timeout(operationTimeout) }
        try {
          return String(await registers.getBlockBlobClient(name).downloadToBuffer(0, undefined, options))
        } catch (error) {
          if (error instanceof RestError && error.statusCode === 404) return undefined
          throw error
        }
      },
    }),
    close: () => store.close(),
  })
}
