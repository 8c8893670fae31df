import { Fence, type FencingGuard, type GuardOptions, type StoreCall } from '@leasehold/core/store'
import { AbortListeners, checkOptionNames, inRounds, parsedJSON } from '@leasehold/core/store-kit'
import type { BucketClient } from './bucket-client.js'
import { failureOf, misconfigured } from './failure-of.js'
import { openBucket } from './open-bucket.js'
import { bucketOptionNames, type S3BucketOptions } from './s3-options.js'
import { isUnmet } from './s3-register.js'

/** The member of a guarded object that the guard writes. */
const MEMBER = 'leasehold'

/** A JSON object. Its member `leasehold` is the guard's, which writes it and removes it before it hands out the value. */
export type GuardedValue = Readonly<Record<string, unknown>>

/** An object as it was read. */
interface Found {
  readonly etag: string | undefined
  readonly value: GuardedValue | undefined
  /** The id of the last write of a guard. */
  readonly write: unknown
}

/**
 * Writes JSON objects of a bucket under fencing tokens: rejects the write of a holder that has lost its lease without
 * noticing. Every write of the object has to use a guard.
 *
 * The object has the largest token in its member `leasehold`, with an id of the write: S3 gives equal contents the same ETag,
 * so that the ETag alone would not show that others have written. Keep other data in objects of their own, each under a key
 * that is used once, and let the guarded object name the current one.
 *
 * All methods reject with a `LeaseLostError`, and write nothing, when the object was written or deleted under a larger token;
 * with a `LeaseConfigurationError` when it is no JSON object; otherwise as a store does. There is no time limit unless a
 * `signal` is given.
 */
export class S3Guard implements FencingGuard {
  readonly #client: BucketClient
  readonly #aborts = new AbortListeners()

  /** Throws a `LeaseConfigurationError` if an option is missing or invalid. The constructor sends no request. */
  constructor(options: S3BucketOptions) {
    checkOptionNames('S3Guard', options, bucketOptionNames, { store: 's3' })
    this.#client = openBucket(options)
  }

  /** Replaces the object with this key. */
  async write(key: string, fencingToken: bigint | string, value: GuardedValue, options?: GuardOptions): Promise<void> {
    await this.transact(key, fencingToken, () => value, options)
  }

  /**
   * Deletes the value. An object stays that has only the token, so that old tokens are still rejected. Readers have to treat
   * it as deleted. Remove it without the guard when no process with an older token can run any more.
   */
  async delete(key: string, fencingToken: bigint | string, options?: GuardOptions): Promise<void> {
    await this.transact(key, fencingToken, () => undefined, options)
  }

  /**
   * Reads the object, passes its value to `change` (`undefined` if there is none), and writes the result if nobody has written
   * meanwhile; `undefined` deletes the value. Calls `change` again when another writer was faster. Errors of `change` pass
   * through unchanged, and nothing is written. Resolves with the written value.
   */
  async transact<T extends GuardedValue | undefined>(
    key: string,
    fencingToken: bigint | string,
    change: (value: GuardedValue | undefined) => T | Promise<T>,
    options?: GuardOptions,
  ): Promise<T> {
    const fence = new Fence('s3', key, fencingToken, options)
    if (/^\/|(^|\/)\.{1,2}(\/|$)/.test(key)) throw misconfigured(`'${key}' is not valid as the key of an object`)
    return await fence.send(this.#aborts, async (call) => {
      let last: { readonly write: string; readonly written: T } | undefined
      const round = async (): Promise<{ readonly written: T } | undefined> => {
        const { etag, value, write } = await this.#read(fence, call)
        // The client of the SDK has repeated our own write, whose answer was lost.
        if (last !== undefined && write === last.write) return last
        last = { write: crypto.randomUUID(), written: await change(value) }
        return (await this.#write(fence, last.written, last.write, etag, call)) ? last : undefined
      }
      return (await inRounds(key, { store: 's3' }, round)).written
    })
  }

  /** Throws a `LeaseLostError` if the object has a larger token. */
  async #read(fence: Fence, call: StoreCall): Promise<Found> {
    const { resource: key } = fence
    const answer = await this.#client.send({ method: 'GET', key }, call)
    if (answer.status === 404 && answer.code !== 'NoSuchBucket')
      return { etag: undefined, value: undefined, write: undefined }
    const request = { operation: 'read', bucket: this.#client.bucket, key } as const
    if (answer.status !== 200) throw failureOf(answer, request)
    const object = parsedJSON(answer.text)
    if (typeof object !== 'object' || object === null || Array.isArray(object)) {
      throw misconfigured(
        `the object '${key}' is no JSON object: the guard writes only JSON objects. Choose another key`,
      )
    }
    const { [MEMBER]: mark, ...value } = object as Record<string, unknown>
    const { fencingToken, deleted, write } = Object(mark) as Record<string, unknown>
    fence.check(fencingToken === undefined ? undefined : String(fencingToken))
    return { etag: answer.header('etag'), value: deleted === true ? undefined : value, write }
  }

  /** Resolves with `false` if another writer was faster. */
  async #write(
    { resource: key, token }: Fence,
    value: GuardedValue | undefined,
    write: string,
    etag: string | undefined,
    call: StoreCall,
  ): Promise<boolean> {
    const isObject = value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))
    if (!isObject) throw misconfigured(`the value of '${key}' must be an object that JSON can have`)
    const mark = {
      fencingToken: String(token),
      write,
      ...(value === undefined && { deleted: true }),
    }
    const body = JSON.stringify({ ...value, [MEMBER]: mark })
    const condition = etag === undefined ? 'absent' : { etag }
    const answer = await this.#client.send({ method: 'PUT', key, body, condition }, call)
    if (isUnmet(answer)) return false
    if (answer.status === 200) return true
    throw failureOf(answer, { operation: 'write', bucket: this.#client.bucket, key })
  }
}
