export { type AkkaBlobStoreOptions, akkaBlobStore } from './akka/akka-blob-store.js'
export type { AkkaPeerOptions } from './akka/akka-peers.js'
export { AzureBlobGuard, type FencedWrite } from './azure-blob-guard.js'
export {
  type AzureBlobBreakOptions,
  type AzureBlobLease,
  type AzureBlobReleaseOptions,
  azureBlobLease,
  breakLeaseIf,
  createAzureBlobLease,
} from './azure-blob-lease.js'
export { AzureBlobLeaseStore } from './azure-blob-lease-store.js'
export { type AzureBlobLeaseStoreOptions, type AzureBlobOptions, azureBlobOptions } from './azure-blob-options.js'
export type { AzureBlobOperation, ClientRequestId } from './client-request-ids.js'
export type { AzureBlobConditions } from './conditions.js'
