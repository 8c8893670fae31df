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

/** A lease on a blob or a container. With its id, the service rejects writes after the lease is lost. */
export class AzureBlobLease extends StoreLease {
  readonly #store: AzureBlobLeaseStore

  constructor(settings: LeaseSettings, store: AzureBlobLeaseStore, environment: LeaseEnvironment = {}) {
    super(settings, store, environment)
    this.#store = store
  }

  /**
   * The `conditions` for a write to the blob of this lease, for the SDK. The service rejects the write unless this lease is in
   * force: with 412, or 409 while another owner holds it. Throws a `LeaseLostError` unless the lease is held.
   */
  conditions(): { readonly leaseId: string } {
    const { grant } = this
    if (grant !== undefined && this.checkLease()) return { leaseId: grant.grantId }
    const { name, owner } = this.settings
    throw new LeaseLostError(`lease '${name}' is not held: acquire it before you write under it`, {
      leaseName: name,
      owner,
      store: this.#store.kind,
      reason: 'expired',
    })
  }

  /**
   * The client of the blob with the lease; its content is yours. Throws a `LeaseConfigurationError` for a lease on a
   * container.
   */
  get blob(): BlockBlobClient {
    return this.#store.blobOf(this.settings.name)
  }
}

/** Like `createLease`, for leases with `conditions()` and `blob`. Throws the same errors. */
export function createAzureBlobLease(
  store: AzureBlobLeaseStore,
  name: string,
  options: CreateLeaseOptions = {},
): AzureBlobLease {
  const { owner, maxHold, clock, logger, random } = options
  const settings = new LeaseSettings({ name, owner, timeouts: new TimeoutSettings(options), maxHold })
  return new AzureBlobLease(settings, store, { clock, logger, random })
}
