import { type Clock, systemClock } from '@leasehold/core'
import { checkFault, faultOfLimit, withinTime } from '@leasehold/core/internal'
import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { CasLeaseStore, checkOptionNames, wallTime } from '@leasehold/core/store-kit'
import { Bucket } from './bucket.js'
import type { NatsClient } from './client/nats-client.js'
import { Connection, type ConnectionOptions } from './connection.js'
import { clockOf, findingsOf } from './fitness.js'
import { NatsRegister } from './nats-register.js'

/** How long `migrate` may take, in milliseconds. */
const CREATION_TIME = 10_000

export interface NatsLeaseStoreOptions {
  /** The key-value bucket of the leases; `leasehold` unless given. */
  readonly bucket?: string | undefined
  /** The JetStream domain of the bucket, where it is not that of the server. */
  readonly domain?: string | undefined
  /**
   * By how much the clocks of two servers of the cluster can differ, with the steps by which they are set; 2 s unless given. In
   * milliseconds. A challenger counts the age of a record by them: a value that is too small lets a live holder be replaced.
   */
  readonly clockDifference?: number | undefined
  /** Whether a bucket that is missing is made: with three replicas in a cluster. On unless given. */
  readonly create?: boolean | undefined
  /** Whether each new grant checks the settings of the bucket. On unless given. */
  readonly probe?: boolean | undefined
  /** For tests: observes records by this clock; the machine's unless given. */
  readonly clock?: Clock | undefined
}

const optionNames = {
  bucket: true,
  domain: true,
  clockDifference: true,
  create: true,
  probe: true,
  clock: true,
} as const

/**
 * Leases in a key-value bucket of NATS JetStream. A challenger takes over only after the entry was unchanged for its ttl: by
 * the clocks of the servers, or as it has seen itself. Each write expects the revision that was read, and reads are answered by the leader of the bucket only.
 */
export class NatsLeaseStore extends CasLeaseStore<number> {
  readonly #clock: Clock
  readonly #bucket: Bucket
  readonly #connection: Connection

  /**
   * `source`: a connection of `@nats-io/transport-node`, which stays open, or the options of one that the store makes at its first
   * request and closes. Throws a `LeaseConfigurationError` if an option is invalid.
   */
  constructor(source: NatsClient | ConnectionOptions, options: NatsLeaseStoreOptions = {}) {
    checkOptionNames<NatsLeaseStoreOptions>('NatsLeaseStore', options, optionNames, { store: 'nats' })
    const { bucket = 'leasehold', domain, clockDifference = 2_000, create = true, probe = true, clock } = options
    checkFault(faultOfLimit('clockDifference', clockDifference), { store: 'nats' })
    const connection = new Connection(source, 'NatsLeaseStore')
    const kept = new Bucket(connection, { bucket, domain, create })
    // JetStream keeps the conditions of writes; what can be wrong is the bucket, and each grant looks at that.
    super(new NatsRegister(kept, probe, clockDifference), { probe: false, ...(clock && { clock }) })
    this.#clock = clock ?? systemClock
    this.#bucket = kept
    this.#connection = connection
  }

  /**
   * Makes the bucket if it is missing, also with `create: false`. Rejects as an operation of a lease does; after ten seconds with
   * a `LeaseTimeoutError`.
   */
  async migrate(): Promise<void> {
    const times = { timeout: CREATION_TIME, clock: this.#clock }
    const operation = `creation of bucket '${this.#bucket.name}'`
    await withinTime(times, this, { operation }, (call) => this.#bucket.create(call))
  }

  /** Whether the bucket is fit for leases, and keeps its conditions. Writes the key `leasehold-probe`. */
  override async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    const findings = await super.probe(call)
    const asked = wallTime()
    const info = await this.#bucket.info({ operation: 'the look at the bucket' }, call)
    return [...findings, ...findingsOf(this.#bucket.name, info), clockOf(info, asked, wallTime())]
  }

  override async close(): Promise<void> {
    await super.close()
    await this.#connection.close()
  }
}
