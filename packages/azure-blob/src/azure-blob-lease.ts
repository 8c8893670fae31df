import type { BlockBlobClient } from '@azure/storage-blob'
import {
  type CreateLeaseOptions,
  type LeaseEnvironment,
  LeaseLostError,
  LeaseSettings,
  StoreLease,
  TimeoutSettings,
} from '@leasehold/core'
import type { AzureBlobLeaseStore } from './azure-blob-lease-store.js'

/** A lease on a blob or a container, whose id makes writes fail at the service once the lease is lost. */
export class AzureBlobLease extends StoreLease {
  readonly #store: AzureBlobLeaseStore

  constructor(settings: LeaseSettings, store: AzureBlobLeaseStore, environment: LeaseEnvironment = {}) {
    super(settings, store, environment)
    this.#store = store
  }

  /**
   * The `conditions` of a write to its blob, as the SDK takes them: without this lease the service refuses the write,
   * with 412 (or 409 while another has it), whatever this process believes. Throws a `LeaseLostError` unless the lease is
   * held.
   */
  conditions(): { readonly leaseId: string } {
    const { grant } = this
    if (grant !== undefined && this.checkLease()) return { leaseId: grant.grantId }
    const { name, owner } = this.settings
    throw new LeaseLostError(`lease '${name}' is not held: nothing may be written under it`, {
      leaseName: name,
      owner,
      store: this.#store.kind,
      reason: 'expired',
    })
  }

  /**
   * The client of the blob that the lease is on; its content is the user's. Throws a `LeaseConfigurationError` for a lease
   * on a container.
   */
  get blob(): BlockBlobClient {
    return this.#store.blobOf(this.settings.name)
  }
}

/** As `createLease`, for what only a lease on a blob can do. Throws what `createLease` throws. */
export function createAzureBlobLease(
  store: AzureBlobLeaseStore,
  name: string,
  options: CreateLeaseOptions = {},
): AzureBlobLease {
  const { owner, maxHold, clock, logger, random } = options
  const settings = new LeaseSettings({ name, owner, timeouts: new TimeoutSettings(options), maxHold })
  return new AzureBlobLease(settings, store, { clock, logger, random })
}
