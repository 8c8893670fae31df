import { type Clock, LeaseStoreUnfitError } from '@leasehold/core'
import type { CasEntry, CasRecord, CasRegister, CasWritten, StoreCall } from '@leasehold/core/store'
import { clockErrorOf, type VersionStamp, WriteTimes } from '@leasehold/core/store-kit'
import type { BucketAnswer, BucketClient, ObjectRequest } from './bucket-client.js'
import { CONDITIONS, type FailedRequest, failureOf } from './failure-of.js'
import { inContent, type LeaseKeys, toContent } from './lease-object.js'

/** How many objects of a listing are read at the same time. */
const MOST_READS = 8

/**
 * Lease records as objects of a bucket: `If-None-Match: *` creates one, `If-Match` replaces the version that was read. The
 * ETag is the version.
 */
export class S3Register implements CasRegister<string> {
  readonly kind = 's3'
  /** Users, lifecycle rules and restored versions remove objects. */
  readonly forgets = true
  readonly clockError?: number
  readonly #client: BucketClient
  readonly #keys: LeaseKeys
  readonly #times: WriteTimes

  /** `clockDifference`: by how much the clocks of two servers of the service can differ, in milliseconds. */
  constructor(client: BucketClient, keys: LeaseKeys, clockDifference: number, clock: Clock) {
    const clockError = clockErrorOf(this.kind, clockDifference)
    if (clockError !== undefined) this.clockError = clockError
    this.#client = client
    this.#keys = keys
    this.#times = new WriteTimes(clock)
  }

  async read(name: string, call: StoreCall): Promise<CasEntry<string> | undefined> {
    const found = await this.#get(name, this.#keys.of(name), call)
    if (found === undefined) return undefined
    this.#times.keep(name, found.stamp)
    return found.entry
  }

  async create(name: string, record: CasRecord, call: StoreCall): Promise<CasWritten<string> | undefined> {
    const stamp = await this.#put(name, record, 'absent', call)
    if (stamp === undefined) return undefined
    this.#times.keep(name, stamp)
    return { version: stamp.version }
  }

  async replace(
    name: string,
    record: CasRecord,
    version: string,
    call: StoreCall,
  ): Promise<CasWritten<string> | undefined> {
    const stamp = await this.#put(name, record, { etag: version }, call)
    if (stamp === undefined) return undefined
    this.#times.keepWrite(name, version, stamp)
    return { version: stamp.version }
  }

  async timeAfter(name: string, version: string, call: StoreCall): Promise<bigint> {
    const find = async () => (await this.#get(name, this.#keys.of(name), call))?.stamp
    return await this.#times.timeAfter(name, version, find, call)
  }

  /** Reads each object: a listing has keys only. */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<CasEntry<string> & { readonly name: string }> {
    const start = this.#keys.startOf(prefix)
    let from: string | undefined
    do {
      const page = await this.#client.list(start, from, call)
      if (page.status !== 200) throw failureOf(page, this.#request('list', start))
      const keys = page.keys.filter((key) => this.#keys.isLease(key))
      for (let first = 0; first < keys.length; first += MOST_READS) {
        const read = keys.slice(first, first + MOST_READS).map((key) => this.#get(undefined, key, call))
        for (const found of await Promise.all(read)) {
          if (found?.name?.startsWith(prefix) !== true || this.#keys.of(found.name) !== found.key) continue
          yield { name: found.name, ...found.entry }
        }
      }
      from = page.next
    } while (from !== undefined)
  }

  async #get(leaseName: string | undefined, key: string, call: StoreCall) {
    const answer = await this.#client.send({ method: 'GET', key }, call)
    if (answer.status === 404 && answer.code !== 'NoSuchBucket') return undefined
    if (answer.status !== 200) throw failureOf(answer, this.#request('read', key, leaseName))
    const { name, record } = inContent(answer.text)
    const stamp = stampOf(answer)
    const { version, date, lastModified } = stamp
    const isTimed = answer.header('last-modified') !== undefined
    const times = isTimed ? { readAt: date.getTime(), writtenAt: lastModified.getTime() } : {}
    return { key, name, stamp, entry: { version, record, ...times } }
  }

  /** Resolves with `undefined` if the object does not meet the condition, or another write came in between. */
  async #put(
    name: string,
    record: CasRecord,
    condition: NonNullable<ObjectRequest['condition']>,
    call: StoreCall,
  ): Promise<VersionStamp | undefined> {
    const key = this.#keys.of(name)
    const answer = await this.#client.send({ method: 'PUT', key, condition, body: toContent(name, record) }, call)
    if (isUnmet(answer)) return undefined
    if (answer.status !== 200) throw failureOf(answer, this.#request('write', key, name))
    return stampOf(answer)
  }

  #request(operation: FailedRequest['operation'], key: string, leaseName?: string): FailedRequest {
    return { operation, bucket: this.#client.bucket, key, leaseName }
  }
}

/** Whether a conditional write had no effect: the object has another version, is gone, or was written at the same time. */
export function isUnmet({ status, code }: BucketAnswer): boolean {
  if (status === 412 || code === 'NoSuchKey') return true
  return status === 409 && code === 'ConditionalRequestConflict'
}

/** The ETag and the times in an answer. An answer to a write has no `Last-Modified`, but was not sent before it. */
function stampOf({ header }: BucketAnswer): VersionStamp {
  const version = header('etag')
  const date = new Date(header('date') ?? Number.NaN)
  const lastModified = new Date(header('last-modified') ?? date)
  if (version !== undefined && !Number.isNaN(date.getTime() + lastModified.getTime())) {
    return { version, date, lastModified }
  }
  throw new LeaseStoreUnfitError(
    'the answers of this service have no ETag or no Date: a proxy may remove these headers. Fencing tokens need both',
    { store: 's3', setting: CONDITIONS },
  )
}
