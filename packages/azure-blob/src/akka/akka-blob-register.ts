import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { type Clock, LeaseConfigurationError, LeaseNameError } from '@leasehold/core'
import type { CasEntry, CasRecord, CasRegister, CasWritten, StoreCall } from '@leasehold/core/store'
import { endOfSecond, isSettled, SECOND, type VersionStamp, WriteTimes } from '@leasehold/core/store-kit'
import { createIsOff, failureOf } from '../failure-of.js'
import { createOnce, unless } from '../service-answer.js'
import { type AkkaPeers, patienceOf } from './akka-peers.js'
import { ownerIn, recordBeside, toAkkaBody, toMetadata } from './akka-record.js'

/** The largest content of a lease of Akka, in bytes. */
const LONGEST_BODY = 65_536

/** Akka cuts longer names. */
const LONGEST_NAME = 63

/** The fields in use of an answer about a blob. */
interface BlobTimes extends Partial<Omit<VersionStamp, 'version'>> {
  readonly etag?: string
}

/**
 * The leases of Akka.Coordination.Azure: JSON in the content of a blob, replaced under the ETag that was read. The other
 * fields of a record are in the metadata of the blob, which every write of Akka removes.
 */
export class AkkaBlobRegister implements CasRegister<string> {
  readonly kind = 'azure-blob'
  /** A write of Akka removes the token. The next token is then the service's time, as after a deletion. */
  readonly forgets = true
  readonly losesTokens = true
  readonly clockError?: number
  readonly #times: WriteTimes
  readonly #container: ContainerClient
  readonly #create: boolean
  readonly #peers: AkkaPeers
  readonly #clock: Clock
  readonly #time: ServiceTime
  /** The lease name of each blob that this process has asked for. */
  readonly #names = new Map<string, string>()

  /** `clockError`: of the times of the service, see `CasRegister.clockError`. */
  constructor(
    container: ContainerClient,
    create: boolean,
    peers: AkkaPeers,
    clock: Clock,
    clockError: number | undefined,
  ) {
    if (clockError !== undefined) this.clockError = clockError
    this.#container = container
    this.#create = create
    this.#peers = peers
    this.#clock = clock
    this.#time = new ServiceTime(clock)
    this.#times = new WriteTimes(clock)
  }

  async read(name: string, call: StoreCall): Promise<CasEntry<string> | undefined> {
    return await this.#ask('read', name, async (blob) => {
      const asked = this.#clock.now()
      const answer = await unless([404], () => blob.download(0, undefined, { abortSignal: call.signal }))
      if (answer === undefined) return undefined
      this.#time.learn(answer.date, asked)
      const { readableStreamBody, contentLength = 0, metadata = {} } = answer
      if (readableStreamBody === undefined || contentLength > LONGEST_BODY) {
        // An unread body would keep its connection.
        if (readableStreamBody instanceof Readable) readableStreamBody.destroy()
        const message = `the blob of lease '${name}' does not contain a lease of Akka: it is too long`
        throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
      }
      const owner = ownerIn(name, await text(readableStreamBody))
      const record = recordBeside(name, owner, metadata)
      const stamp = stampOf(answer)
      const { version } = stamp
      const times = { readAt: stamp.date.getTime(), writtenAt: stamp.lastModified.getTime() }
      this.#times.keep(name, stamp)
      if (record !== undefined) return { version, record, ...times }
      // Akka may write again in the second of its last write, and the token of that write has to be larger.
      if (!isSettled(stamp)) await this.#times.settle(name, stamp, call)
      return { version, record: this.#foreign(owner, stamp), ...times }
    })
  }

  async create(name: string, record: CasRecord, call: StoreCall): Promise<CasWritten<string> | undefined> {
    if (!this.#create) throw createIsOff('blob', name)
    return await this.#ask('create', name, async (blob) => {
      const written = await createOnce(this.#container, call.signal, () =>
        this.#upload(blob, name, record, { ifNoneMatch: '*' }, call),
      )
      if (written === undefined) return undefined
      const stamp = stampOf(written)
      this.#times.keep(name, stamp)
      return { version: stamp.version }
    })
  }

  async replace(
    name: string,
    record: CasRecord,
    version: string,
    call: StoreCall,
  ): Promise<CasWritten<string> | undefined> {
    return await this.#ask('replace', name, async (blob) => {
      const written = await unless([404, 412], () => this.#upload(blob, name, record, { ifMatch: version }, call))
      if (written === undefined) return undefined
      const stamp = stampOf(written)
      this.#times.keepWrite(name, version, stamp)
      return { version: stamp.version }
    })
  }

  async timeAfter(name: string, version: string, call: StoreCall): Promise<bigint> {
    return await this.#ask('read', name, async (blob) => {
      const find = async (): Promise<VersionStamp | undefined> => {
        const answer = await unless([404], () => blob.getProperties({ abortSignal: call.signal }))
        return answer && stampOf(answer)
      }
      return await this.#times.timeAfter(name, version, find, call)
    })
  }

  async #ask<T>(operation: string, name: string, request: (blob: BlockBlobClient) => Promise<T>): Promise<T> {
    const blobName = toAkkaName(name)
    const known = this.#names.get(blobName) ?? name
    if (known !== name) throw misfit(name, `is the same lease as '${known}' to Akka: rename one of them`)
    this.#names.set(blobName, name)
    try {
      return await request(this.#container.getBlockBlobClient(blobName))
    } catch (error) {
      throw failureOf(operation, name, error)
    }
  }

  async #upload(
    blob: BlockBlobClient,
    name: string,
    record: CasRecord,
    conditions: { readonly ifMatch: string } | { readonly ifNoneMatch: string },
    call: StoreCall,
  ): Promise<BlobTimes> {
    const body = toAkkaBody(record.owner, this.#timeOf(record))
    const metadata = toMetadata(name, record)
    const asked = this.#clock.now()
    const written = await blob.upload(body, Buffer.byteLength(body), { conditions, metadata, abortSignal: call.signal })
    this.#time.learn(written.date, asked)
    return written
  }

  /**
   * Returns the time for a record that makes Akka wait for a whole ttl of ours. Akka takes over when its own clock is past
   * this time by its time-out less two heartbeat intervals. That period can be shorter than our ttl.
   */
  #timeOf({ owner, ttl }: CasRecord): number {
    const now = this.#time.now()
    return owner === '' ? now : now + Math.max(0, ttl + this.#peers.clockSkew - patienceOf(this.#peers))
  }

  /** Returns the record of a blob that Akka wrote: held until it was seen unchanged for Akka's whole time-out. */
  #foreign(owner: string, stamp: VersionStamp): CasRecord {
    const { heartbeatTimeout: ttl } = this.#peers
    const fencingToken = BigInt(endOfSecond(stamp).getTime()) - 1n
    return { owner, grantId: `akka ${stamp.version}`, fencingToken, ttl, revision: 0, metadata: {} }
  }
}

function stampOf({ etag, lastModified, date }: BlobTimes): VersionStamp {
  if (etag === undefined) throw new TypeError('the answer of the service has no ETag')
  if (lastModified === undefined || date === undefined) throw new TypeError('the answer of the service has no time')
  return { version: etag, lastModified, date }
}

/**
 * The time by the service's clock, estimated from its answers; never too early. This machine's wall clock can be wrong by
 * hours.
 */
class ServiceTime {
  readonly #clock: Clock
  #latest: { readonly time: number; readonly at: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `asked`: the time at which the request was sent, on the machine's monotonic clock. */
  learn(date: Date | undefined, asked: number): void {
    // The service rounds down: the actual time is up to a second later.
    if (date !== undefined) this.#latest = { time: date.getTime() + SECOND, at: asked }
  }

  /** In milliseconds since 1970; 0 before the first answer. */
  now(): number {
    return this.#latest === undefined ? 0 : this.#latest.time + (this.#clock.now() - this.#latest.at)
  }
}

/**
 * The name of the blob in Akka.Coordination.Azure. Throws a `LeaseNameError` if Akka would keep no character of the name, or
 * would cut it, so that two names with the same start would be one lease.
 */
function toAkkaName(name: string): string {
  const kept = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[_.]/g, '-')
    .replaceAll(/[^-a-z0-9]/g, '')
  if (kept === '') throw misfit(name, 'has no letter or digit that Akka keeps: a to z, 0 to 9 and hyphens')
  if (kept.length <= LONGEST_NAME) return kept
  throw misfit(
    name,
    `has ${kept.length} characters that Akka keeps, but Akka cuts it after ${LONGEST_NAME}: shorten it`,
  )
}

function misfit(name: string, why: string): LeaseNameError {
  return new LeaseNameError(`the lease name '${name}' ${why}`, { leaseName: name, store: 'azure-blob' })
}
