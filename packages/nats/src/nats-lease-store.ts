import type { Clock } from '@leasehold/core'
import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { CasLeaseStore, checkOptionNames, wallTime } from '@leasehold/core/store-kit'
import { Bucket } from './bucket.js'
import type { NatsClient } from './client/nats-client.js'
import { Connection, type ConnectionOptions } from './connection.js'
import { clockOf, findingsOf } from './fitness.js'
import { NatsRegister } from './nats-register.js'

export interface NatsLeaseStoreOptions {
  /** The key-value bucket of the leases; `leasehold` unless given. */
  readonly bucket?: string | undefined
  /** The JetStream domain of the bucket, where it is not that of the server. */
  readonly domain?: string | undefined
  /** Whether a bucket that is missing is made: with three replicas in a cluster. On unless given. */
  readonly create?: boolean | undefined
  /** Whether each new grant checks the settings of the bucket. On unless given. */
  readonly probe?: boolean | undefined
  /** For tests: observes records by this clock; the machine's unless given. */
  readonly clock?: Clock | undefined
}

const optionNames = { bucket: true, domain: true, create: true, probe: true, clock: true } as const

/**
 * Leases in a key-value bucket of NATS JetStream. A challenger takes over only after it has itself seen the entry unchanged for
 * its ttl. Each write expects the revision that was read, and reads are answered by the leader of the bucket only.
 */
export class NatsLeaseStore extends CasLeaseStore<number> {
  readonly #bucket: Bucket
  readonly #connection: Connection

  /**
   * `source`: a connection of `@nats-io/transport-node`, which stays open, or the options of one that the store makes at its first
   * request and closes. Throws a `LeaseConfigurationError` if an option is invalid.
   */
  constructor(source: NatsClient | ConnectionOptions, options: NatsLeaseStoreOptions = {}) {
    checkOptionNames<NatsLeaseStoreOptions>('NatsLeaseStore', options, optionNames, { store: 'nats' })
    const { bucket = 'leasehold', domain, create = true, probe = true, clock } = options
    const connection = new Connection(source, 'NatsLeaseStore')
    const kept = new Bucket(connection, { bucket, domain, create })
    // JetStream keeps the conditions of writes; what can be wrong is the bucket, and each grant looks at that.
    super(new NatsRegister(kept, probe), { probe: false, ...(clock && { clock }) })
    this.#bucket = kept
    this.#connection = connection
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
