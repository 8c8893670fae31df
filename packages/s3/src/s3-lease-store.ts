import { type Clock, LeaseStoreUnfitError, systemClock } from '@leasehold/core'
import { withinTime } from '@leasehold/core/internal'
import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { CasLeaseStore, checkOptionNames } from '@leasehold/core/store-kit'
import type { BucketClient } from './bucket-client.js'
import { createBucket } from './create-bucket.js'
import { CONDITIONS } from './failure-of.js'
import { LeaseKeys } from './lease-object.js'
import { openBucket } from './open-bucket.js'
import { type S3LeaseStoreOptions, storeOptionNames } from './s3-options.js'
import { S3Register } from './s3-register.js'

/**
 * The shortest ttl, in milliseconds. The first grant of a name can take a second, and has to fit into the time limit of a
 * call, which follows from the ttl.
 */
const MIN_TTL = 5_000

/** How long `migrate` may take, in milliseconds. */
const CREATION_TIME = 10_000

/**
 * Leases in a bucket of S3, or of a service with its interface: one object for each name, which only conditional requests
 * write. A service that ignores their conditions is refused before the first grant, with a `LeaseStoreUnfitError`.
 *
 * A challenger takes over when the object has been unchanged for the recorded ttl: by two times of the service, that of its
 * answer and that of the last write, or because it has seen the object unchanged for that long itself. No time is compared
 * with the clock of this machine.
 */
export class S3LeaseStore extends CasLeaseStore<string> {
  readonly #client: BucketClient
  readonly #clock: Clock

  /** Throws a `LeaseConfigurationError` if an option is missing or invalid. The constructor sends no request. */
  constructor(options: S3LeaseStoreOptions) {
    checkOptionNames('S3LeaseStore', options, storeOptionNames, { store: 's3' })
    const { prefix = 'leases/', clockDifference = 2_000, maxTtl, probe, clock = systemClock } = options
    const client = openBucket(options)
    const register = new S3Register(client, new LeaseKeys(prefix), clockDifference, clock)
    super(register, {
      clock,
      minTtl: MIN_TTL,
      ...(maxTtl === undefined ? {} : { maxTtl }),
      ...(probe === undefined ? {} : { probe }),
    })
    this.#client = client
    this.#clock = clock
  }

  /**
   * Makes the bucket if it is missing. Rejects as an operation of a lease does; after ten seconds with a `LeaseTimeoutError`.
   */
  async migrate(): Promise<void> {
    const times = { timeout: CREATION_TIME, clock: this.#clock }
    const operation = `creation of bucket '${this.#client.bucket}'`
    await withinTime(times, this, { operation }, (call) => createBucket(this.#client, call))
  }

  /** Whether the service keeps the conditions of writes. Writes the object of the reserved name `leasehold-probe`. */
  override async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    try {
      return await super.probe(call)
    } catch (error) {
      if (!(error instanceof LeaseStoreUnfitError)) throw error
      const change =
        'use a service that knows If-Match and If-None-Match of a PUT, and has ETag and Date in its answers'
      return [{ check: CONDITIONS, result: 'failed', setting: CONDITIONS, found: error.message, change }]
    }
  }
}
