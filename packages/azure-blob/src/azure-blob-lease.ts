import type { BlockBlobClient } from '@azure/storage-blob'
import {
  type CreateLeaseOptions,
  type Grant,
  type HandOff,
  LeaseLostError,
  type LeaseSettings,
  type LeaseStore,
  type ReleaseOptions,
  StoreLease,
  type StoreOperationOptions,
} from '@leasehold/core'
import { leaseParts, withinTime } from '@leasehold/core/internal'
import type { BreakOptions, StoreLeaseEnvironment } from '@leasehold/core/store'
import { checkOptionNames, type OpenContext, type OptionNames, providerFactory } from '@leasehold/core/store-kit'
import { akkaBlobStore } from './akka/akka-blob-store.js'
import { AzureBlobLeaseStore } from './azure-blob-lease-store.js'
import { type AzureBlobOptions, azureBlobOptions, checkOptions } from './azure-blob-options.js'
import { type AzureBlobConditions, checkConditions } from './conditions.js'
import { openServiceClient } from './service-client.js'

/** A lease on a blob or a container. With its id, the service rejects writes after the lease is lost. */
export class AzureBlobLease extends StoreLease {
  readonly #store: AzureBlobLeaseStore
  readonly #clock: StoreLeaseEnvironment['clock']
  #etag: string | undefined

  constructor(settings: LeaseSettings, store: AzureBlobLeaseStore, environment: StoreLeaseEnvironment = {}) {
    super(settings, store, environment)
    this.#store = store
    this.#clock = environment.clock
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
   * While the lease is held: the ETag of the blob or container at the grant. After a release: the ETag at the release, with
   * which `acquire({ ifMatch })` grants the lease only if nothing was written since. After a loss: `undefined`.
   */
  get etag(): string | undefined {
    const grant: (Grant & { readonly etag?: string }) | undefined = this.grant
    return grant === undefined ? this.#etag : grant.etag
  }

  /**
   * Like `renew` of every `StoreLease`. With `conditions`: rejects with a `LeaseConflictError`, and renews nothing, unless
   * they are met. The lease then stays held, until its validity ends. Heartbeats have no conditions: for a lease that is to
   * be renewed only under conditions, use `strategy: 'manual'`.
   */
  override async renew(options: { readonly conditions?: AzureBlobConditions } = {}): Promise<boolean> {
    checkOptionNames('renew', options, { conditions: true }, { leaseName: this.settings.name })
    await this.#require(options.conditions)
    return await super.renew()
  }

  /**
   * Like `release` of every `StoreLease`. With `conditions`: rejects with a `LeaseConflictError`, and keeps the lease,
   * unless they are met. A renewal just before the release checks them: while the lease is in force, nobody else writes to
   * its blob. But a lease on a container does not keep others from writing the container's metadata in between.
   */
  override async release(options: AzureBlobReleaseOptions = {}): Promise<boolean> {
    const { conditions, ...others } = options
    await this.#require(conditions)
    const { grant } = this
    const isReleased = await super.release(others)
    if (grant !== undefined) this.#etag = this.#store.etagAtRelease(grant.grantId)
    return isReleased
  }

  /** Like `handOff` of every `StoreLease`. `conditions`: as in {@link AzureBlobLease.release}. */
  override async handOff(
    to: { readonly owner?: string; readonly conditions?: AzureBlobConditions } = {},
  ): Promise<HandOff> {
    checkOptionNames('handOff', to, { owner: true, conditions: true }, { leaseName: this.settings.name })
    const { conditions, ...others } = to
    await this.#require(conditions)
    return await super.handOff(others)
  }

  /**
   * Rejects unless the blob or container under the lease meets the conditions. Checks nothing if the lease is not held, or
   * was lost: the operation that follows handles that.
   */
  async #require(conditions: AzureBlobConditions | undefined): Promise<void> {
    const { name: leaseName, owner, timeouts } = this.settings
    checkConditions(conditions, { leaseName, owner })
    const { grant } = this
    if (conditions === undefined || grant === undefined || !this.checkLease()) return
    const limits = { timeout: timeouts.operationTimeout, clock: this.#clock }
    const operation = { operation: `the conditions of lease '${leaseName}'`, leaseName }
    await withinTime(limits, this.#store, operation, (call) => this.#store.renew(grant, call, conditions))
  }

  /**
   * The client of the blob with the lease; its content is yours. Throws a `LeaseConfigurationError` for a lease on a
   * container.
   */
  get blob(): BlockBlobClient {
    return this.#store.blobOf(this.settings.name)
  }
}

export interface AzureBlobReleaseOptions extends ReleaseOptions {
  readonly conditions?: AzureBlobConditions
}

/** Like `createLease`, for leases with `conditions()` and `blob`. Throws the same errors. */
export function createAzureBlobLease(
  store: AzureBlobLeaseStore,
  name: string,
  options: CreateLeaseOptions = {},
): AzureBlobLease {
  const { settings, environment } = leaseParts('createAzureBlobLease', name, options)
  return new AzureBlobLease(settings, store, environment)
}

export interface AzureBlobBreakOptions extends BreakOptions, StoreOperationOptions {
  /** Breaks the lease only if the blob, or the container, meets them: rejects with a `LeaseConflictError` otherwise. */
  readonly conditions?: AzureBlobConditions | undefined
}

/** Like `breakLease`, with conditions. Rejects with the same errors. */
export async function breakLeaseIf(
  store: AzureBlobLeaseStore,
  name: string,
  options: AzureBlobBreakOptions = {},
): Promise<{ readonly remaining: number }> {
  checkOptionNames('breakLeaseIf', options, breakOptionNames, { leaseName: name })
  const { timeout, signal, clock, keepAlive, ...breaking } = options
  const operation = { operation: `breaking lease '${name}'`, leaseName: name }
  return await withinTime({ timeout, signal, clock, keepAlive }, store, operation, (call) =>
    store.break(name, breaking, call),
  )
}

const breakOptionNames: OptionNames<AzureBlobBreakOptions> = {
  period: true,
  reason: true,
  grantId: true,
  conditions: true,
  timeout: true,
  signal: true,
  clock: true,
  keepAlive: true,
}

/**
 * The factory of leases in Azure Blob Storage, for `lease-class = "@leasehold/azure-blob"`. All leases of one provider with
 * the same options share a store and its client. The leases are {@link AzureBlobLease}s, except with Akka's layout. The
 * options in the block are {@link AzureBlobOptions}.
 */
export const azureBlobLease = providerFactory(azureBlobOptions, openStore, (settings, store, environment) => {
  if (store instanceof AzureBlobLeaseStore) return new AzureBlobLease(settings, store, environment)
  return new StoreLease(settings, store, environment)
})

async function openStore(values: AzureBlobOptions, { clock }: OpenContext): Promise<LeaseStore> {
  checkOptions(values)
  const { layout, resource, create, prefix, names, metadata, clientRequestId } = values
  const container = values.container ?? (layout === 'akka' ? 'akka-coordination-lease' : 'leases')
  const service = await openServiceClient(values)
  if (layout !== 'akka') {
    const client = resource === 'container' ? service : service.getContainerClient(container)
    return new AzureBlobLeaseStore(client, { create, prefix, names, metadata, clientRequestId, clock })
  }
  const { akkaHeartbeatTimeout: heartbeatTimeout, akkaHeartbeatInterval: heartbeatInterval, clockDifference } = values
  const peers = { heartbeatTimeout, heartbeatInterval, clockSkew: values.akkaClockSkew }
  return akkaBlobStore(service.getContainerClient(container), { create, peers, clockDifference, clock })
}
