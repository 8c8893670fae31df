import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import {
  type CasEntry,
  type CasRecord,
  type CasRegister,
  type CasWritten,
  type Clock,
  LeaseConfigurationError,
} from '@leasehold/core'
import { failureOf } from '../failure-of.js'
import { KnownWrites } from '../known-writes.js'
import { codeOf, isStatus, orMissing } from '../service-answer.js'
import { settling } from '../settling.js'
import { endOfSecond, isSettled, tokenTime, type WriteStamp } from '../write-time.js'
import { ownerIn, toAkkaBody } from './akka-body.js'
import { AkkaNames } from './akka-names.js'
import { type AkkaPeers, patienceOf } from './akka-peers.js'
import { recordBeside, toMetadata } from './akka-record.js'
import { ServiceTime } from './service-time.js'

/** No lease of Akka is longer, in bytes. */
const LONGEST_BODY = 65_536

/** What an answer tells of the last write of a blob. */
interface Stamp extends WriteStamp {
  readonly etag: string
}

/**
 * The leases of Akka.Coordination.Azure: JSON in the content of a blob, replaced only where its ETag is the one that was
 * read. What Akka has no place for is in the metadata, which each of its own writes removes.
 */
export class AkkaBlobRegister implements CasRegister<string> {
  readonly kind = 'azure-blob'
  /** A write of Akka's leaves no token: the next one starts from the service's time, as after a deletion. */
  readonly forgets = true
  /** What the last answer for a name told of its blob. */
  readonly #stamps = new Map<string, Stamp>()
  readonly #known = new KnownWrites()
  readonly #container: ContainerClient
  readonly #create: boolean
  readonly #peers: AkkaPeers
  readonly #clock: Clock
  readonly #time: ServiceTime
  readonly #names = new AkkaNames()

  constructor(container: ContainerClient, create: boolean, peers: AkkaPeers, clock: Clock) {
    this.#container = container
    this.#create = create
    this.#peers = peers
    this.#clock = clock
    this.#time = new ServiceTime(clock)
  }

  async read(name: string, signal: AbortSignal): Promise<CasEntry<string> | undefined> {
    return await this.#ask('read', name, async (blob) => {
      const asked = this.#clock.now()
      const answer = await orMissing(() => blob.download(0, undefined, { abortSignal: signal }))
      if (answer === undefined) return undefined
      this.#time.learn(answer.date, asked)
      const { readableStreamBody, contentLength = 0, metadata = {} } = answer
      if (readableStreamBody === undefined || contentLength > LONGEST_BODY) {
        // What nobody reads would keep its connection.
        if (readableStreamBody instanceof Readable) readableStreamBody.destroy()
        const message = `what is in the blob of lease '${name}' is no lease of Akka: it is too long`
        throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
      }
      const owner = ownerIn(name, await text(readableStreamBody))
      const record = recordBeside(name, owner, metadata)
      const stamp = this.#keepStamp(name, answer)
      if (record !== undefined) return { version: stamp.etag, record }
      // Akka may write once more in the second that its last write tells, and its token has to be larger.
      if (!isSettled(stamp)) await this.#settle(name, stamp, signal)
      return { version: stamp.etag, record: this.#foreign(owner, stamp) }
    })
  }

  async create(name: string, record: CasRecord, signal: AbortSignal): Promise<CasWritten<string> | undefined> {
    if (!this.#create) {
      throw new LeaseConfigurationError(
        `there is no blob for lease '${name}', and 'create' is off: make it, or turn 'create' on`,
        { leaseName: name, store: this.kind },
      )
    }
    return await this.#ask('create', name, async (blob) => {
      try {
        const written = await this.#upload(blob, name, record, { ifNoneMatch: '*' }, signal)
        return { version: this.#keepStamp(name, written).etag }
      } catch (error) {
        if (codeOf(error) === 'BlobAlreadyExists') return undefined
        if (codeOf(error) !== 'ContainerNotFound') throw error
        await this.#container.createIfNotExists({ abortSignal: signal })
        return undefined
      }
    })
  }

  async replace(
    name: string,
    record: CasRecord,
    version: string,
    signal: AbortSignal,
  ): Promise<CasWritten<string> | undefined> {
    return await this.#ask('replace', name, async (blob) => {
      try {
        const written = await this.#upload(blob, name, record, { ifMatch: version }, signal)
        const { etag } = this.#keepStamp(name, written)
        if (this.#known.has(name, version)) this.#known.keep(name, etag)
        return { version: etag }
      } catch (error) {
        if (isStatus(error, 412) || isStatus(error, 404)) return undefined
        throw error
      }
    })
  }

  async timeAfter(name: string, version: string, signal: AbortSignal): Promise<bigint> {
    return await this.#ask('read', name, async (blob) => {
      let stamp = this.#stamps.get(name)
      if (stamp?.etag !== version) {
        const answer = await orMissing(() => blob.getProperties({ abortSignal: signal }))
        // The write that the time is for will be refused.
        if (answer === undefined) return 0n
        stamp = this.#keepStamp(name, answer)
      }
      const isKnown = this.#known.has(name, version)
      if (!isKnown && !isSettled(stamp)) await this.#settle(name, stamp, signal)
      // From here on, what is written over this version is known: the next grant, and what this process writes on top.
      this.#known.keep(name, version)
      return tokenTime(stamp, isKnown)
    })
  }

  /** Waits until the second of the last write is over. */
  async #settle(name: string, stamp: Stamp, signal: AbortSignal): Promise<void> {
    await settling(this.#clock, signal)
    this.#stamps.set(name, { ...stamp, date: endOfSecond(stamp) })
  }

  #keepStamp(name: string, { etag, lastModified, date }: Partial<Stamp>): Stamp {
    if (etag === undefined) throw new TypeError('the service told no ETag')
    if (lastModified === undefined || date === undefined) throw new TypeError('the service did not tell the time')
    const stamp = { etag, lastModified, date }
    this.#stamps.set(name, stamp)
    return stamp
  }

  async #ask<T>(operation: string, name: string, request: (blob: BlockBlobClient) => Promise<T>): Promise<T> {
    const blob = this.#container.getBlockBlobClient(this.#names.blobOf(name))
    try {
      return await request(blob)
    } catch (error) {
      throw failureOf({ operation, leaseName: name, store: this.kind }, error)
    }
  }

  async #upload(
    blob: BlockBlobClient,
    name: string,
    record: CasRecord,
    conditions: { readonly ifMatch: string } | { readonly ifNoneMatch: string },
    abortSignal: AbortSignal,
  ): Promise<Partial<Stamp>> {
    const body = toAkkaBody(record.owner, this.#timeOf(record))
    const metadata = toMetadata(name, record)
    const asked = this.#clock.now()
    const written = await blob.upload(body, Buffer.byteLength(body), { conditions, metadata, abortSignal })
    this.#time.learn(written.date, asked)
    return written
  }

  /**
   * The time that makes Akka wait for a whole ttl of ours: it takes over when its own clock is past the time that it
   * reads by its patience, which may be shorter than our ttl.
   */
  #timeOf({ owner, ttl }: CasRecord): number {
    const now = this.#time.now()
    return owner === '' ? now : now + Math.max(0, ttl + this.#peers.clockSkew - patienceOf(this.#peers))
  }

  /** A record of Akka's: held until it has been seen unchanged for its whole time-out. */
  #foreign(owner: string, stamp: Stamp): CasRecord {
    const { heartbeatTimeout: ttl } = this.#peers
    const fencingToken = BigInt(endOfSecond(stamp).getTime()) - 1n
    return { owner, grantId: `akka ${stamp.etag}`, fencingToken, ttl, revision: 0, metadata: {} }
  }
}
