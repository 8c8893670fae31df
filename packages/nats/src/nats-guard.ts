import { Fence, type FencingGuard, type GuardOptions, type StoreCall } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, FirstUseProbe, inRounds } from '@leasehold/core/store-kit'
import { Bucket } from './bucket.js'
import type { NatsClient } from './client/nats-client.js'
import { Connection, type ConnectionOptions } from './connection.js'
import { findingsOf } from './fitness.js'
import { misconfigured } from './nats-options.js'

/** The longest time of a request, in milliseconds. */
const TIMEOUT = 10_000

/** The header in which a message has the token under which it was written. */
const HEADER = 'Leasehold-Fencing-Token'

export interface NatsGuardOptions {
  /** The key-value bucket of the guarded keys. */
  readonly bucket: string
  /** The JetStream domain of the bucket, where it is not that of the server. */
  readonly domain?: string | undefined
  /** Whether the settings of the bucket are checked before the first write. On unless given. */
  readonly probe?: boolean | undefined
}

const optionNames = { bucket: true, domain: true, probe: true } as const

/**
 * Rejects writes with an old fencing token: a holder that has not noticed its loss cannot overwrite the data of its
 * successor. The values are ordinary ones of the bucket. Every writer of a key must use a guard: the token is a header of the
 * last message of the key, also of the message that says that the key was deleted. A client that writes or deletes the key
 * without a guard, removes the token.
 *
 * A write expects the revision whose token was compared, and is repeated if another writer was faster. The methods reject with
 * a `LeaseLostError` if a larger token has written the key, and with a `LeaseUnavailableError` if the answer is unknown: the
 * write may then have happened. Each request takes at most 10 s, also without a `signal`.
 */
export class NatsGuard implements FencingGuard {
  readonly #connection: Connection
  readonly #bucket: Bucket
  readonly #probe: FirstUseProbe
  readonly #aborts = new AbortListeners()

  /** `source`: as for `NatsLeaseStore`. Throws a `LeaseConfigurationError` if an option is invalid. */
  constructor(source: NatsClient | ConnectionOptions, options: NatsGuardOptions) {
    checkOptionNames<NatsGuardOptions>('NatsGuard', options ?? {}, optionNames, { store: 'nats' })
    const { bucket, domain, probe = true } = options ?? {}
    this.#connection = new Connection(source, 'NatsGuard')
    this.#bucket = new Bucket(this.#connection, { bucket, domain, create: false })
    this.#probe = new FirstUseProbe('nats', probe, async (leaseName, call) => {
      return findingsOf(bucket, await this.#bucket.info({ operation: 'the look at the bucket', leaseName }, call))
    })
  }

  async write(
    key: string,
    fencingToken: bigint | string,
    value: string | Uint8Array,
    options?: GuardOptions,
  ): Promise<void> {
    await this.transact(key, fencingToken, () => value, options)
  }

  /** Deletes the value, as `nats kv del` does, and keeps the token. */
  async delete(key: string, fencingToken: bigint | string, options?: GuardOptions): Promise<void> {
    await this.transact(key, fencingToken, () => undefined, options)
  }

  /**
   * Replaces the value of the key by what `change` makes of it; `undefined` stands for no value. Calls `change` again if another
   * writer was faster. Its own errors pass through, and nothing is written.
   */
  async transact(
    key: string,
    fencingToken: bigint | string,
    change: (value: Uint8Array | undefined) => string | Uint8Array | undefined,
    options?: GuardOptions,
  ): Promise<void> {
    const fence = new Fence('nats', key, fencingToken, options)
    checkKey(key)
    const details = { leaseName: key, store: 'nats' }
    await fence.send(
      this.#aborts,
      async (call) => {
        if (this.#probe.isDue) await this.#probe.require(key, call)
        await inRounds(key, details, () => this.#write(fence, change, call))
      },
      TIMEOUT,
    )
  }

  /** Ends the connection that the guard has made itself. */
  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #write(
    fence: Fence,
    change: (value: Uint8Array | undefined) => string | Uint8Array | undefined,
    call: StoreCall,
  ): Promise<number | undefined> {
    const { resource: key, token } = fence
    const asked = { operation: 'a guarded write', leaseName: key }
    const last = await this.#bucket.get(key, asked, call)
    fence.check(last?.header(HEADER) || undefined)
    const value = fence.run(() => change(last?.isDeleted === false ? last.value : undefined))
    const headers = { [HEADER]: String(token), ...(value === undefined && { 'KV-Operation': 'DEL' }) }
    return await this.#bucket.put(key, value ?? '', { expected: last?.revision ?? 0, headers }, asked, call)
  }
}

/** Only keys that every client of the bucket accepts. */
function checkKey(key: string): void {
  if (/^[-/=\w]+(?:\.[-/=\w]+)*$/.test(key)) return
  throw misconfigured(`a key of a bucket has letters, digits and '-/_=' between single dots, not '${key}'`)
}
