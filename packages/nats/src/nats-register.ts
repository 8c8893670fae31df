import {
  AbortableCall,
  type CasEntry,
  type CasRecord,
  type CasRegister,
  type CasWritten,
  checkLeaseName,
  type StoreCall,
} from '@leasehold/core/store'
import {
  decodeLeaseName,
  encodeLeaseName,
  type NameAlphabet,
  PROBE_NAME,
  recordIn,
  recordText,
  requireFit,
} from '@leasehold/core/store-kit'
import type { Bucket, BucketInfo, KeyValue } from './bucket.js'
import { findingsOf } from './fitness.js'
import { misconfigured } from './nats-options.js'

/** A dot would divide a key into the levels of a subject, where wildcards count. No name is too long. */
const alphabet: NameAlphabet = {
  allows: (character) => /^[\w/-]$/.test(character),
  escape: '=',
  maxLength: 3 * 1_024,
}

/** How many keys a listing reads at the same time. */
const READS = 32

/** The keys of a bucket as a compare-and-set register by their revisions. */
export class NatsRegister implements CasRegister<number> {
  readonly kind = 'nats'
  readonly forgets = true
  readonly #bucket: Bucket
  readonly #isChecked: boolean
  readonly clockError: number
  readonly #closed = new AbortableCall()

  /**
   * `isChecked`: whether each new grant checks the settings of the bucket. `clockDifference`: between two servers, in
   * milliseconds.
   */
  constructor(bucket: Bucket, isChecked: boolean, clockDifference: number) {
    this.clockError = clockDifference
    this.#bucket = bucket
    this.#isChecked = isChecked
  }

  async read(name: string, call: StoreCall): Promise<CasEntry<number> | undefined> {
    const entry = entryOf(await this.#bucket.get(keyOf(name), { operation: 'the read', leaseName: name }, call))
    // The age of a record counts only while somebody holds it. The probe compares the times of its own record.
    const isCounted = entry !== undefined && (entry.record.owner !== '' || name === PROBE_NAME)
    return isCounted ? { ...entry, readAt: timeOf(await this.#info(name, call)) } : entry
  }

  async create(name: string, record: CasRecord, call: StoreCall): Promise<CasWritten<number> | undefined> {
    const written = await this.replace(name, record, 0, call)
    if (written !== undefined) return written
    // A client that deletes a key writes a message that says so.
    const last = await this.#bucket.get(keyOf(name), { operation: 'the read', leaseName: name }, call)
    return last?.isDeleted === true ? await this.replace(name, record, last.revision, call) : undefined
  }

  async replace(
    name: string,
    record: CasRecord,
    version: number,
    call: StoreCall,
  ): Promise<CasWritten<number> | undefined> {
    const asked = { operation: 'the write', leaseName: name }
    const written = await this.#bucket.put(keyOf(name), recordText(record), { expected: version }, asked, call)
    return written === undefined ? undefined : { version: written }
  }

  /**
   * JetStream can lose confirmed writes with the power of several servers, a backup brings old ones back, and a bucket that is
   * made again counts from 1. So tokens follow the clock of the servers: in microseconds, because an older record can return
   * within the millisecond of a grant.
   */
  async timeAfter(name: string, _version: number, call: StoreCall): Promise<bigint> {
    const info = await this.#info(name, call)
    if (this.#isChecked) requireFit(this.kind, name, findingsOf(this.#bucket.name, info))
    return stepOf(info)
  }

  #info(name: string, call: StoreCall): Promise<BucketInfo> {
    return this.#bucket.info({ operation: 'the look at the bucket', leaseName: name }, call)
  }

  async *watch(name: string, call: StoreCall): AsyncGenerator<CasEntry<number> | undefined> {
    const asked = { operation: 'the watch', leaseName: name }
    const ended = new AbortableCall()
    const removers = [call, this.#closed].map((by) => by.onAbort(() => ended.abort()))
    try {
      for await (const value of this.#bucket.watch(keyOf(name), asked, ended)) yield entryOf(value)
    } finally {
      for (const remove of removers) remove()
    }
  }

  async *list(prefix: string, call: StoreCall): AsyncGenerator<CasEntry<number> & { readonly name: string }> {
    const asked = { operation: 'the listing' }
    const names = [...(await this.#bucket.keys(asked, call))]
      .map((key) => decodeLeaseName(key, alphabet))
      .filter((name) => name?.startsWith(prefix) === true) as string[]
    for (let start = 0; start < names.length; start += READS) {
      const page = names.slice(start, start + READS)
      const values = await Promise.all(page.map((name) => this.#bucket.get(keyOf(name), asked, call)))
      for (const [place, name] of page.entries()) {
        const entry = entryOf(values[place])
        if (entry !== undefined) yield { name, ...entry }
      }
    }
  }

  async close(): Promise<void> {
    this.#closed.abort()
  }
}

function keyOf(name: string): string {
  checkLeaseName(name)
  return encodeLeaseName(name, alphabet)
}

function entryOf(found: KeyValue | undefined): CasEntry<number> | undefined {
  if (found === undefined || found.isDeleted) return undefined
  const { revision, value, writtenAt } = found
  return { version: revision, record: recordIn(value.toString()), writtenAt }
}

/** In milliseconds since 1970. */
function timeOf({ ts = '' }: BucketInfo): number {
  const time = Date.parse(ts)
  if (Number.isFinite(time)) return time
  throw misconfigured('the servers do not give their time: leases need NATS 2.10 or later')
}

/** In microseconds since 1970, rounded up: the servers write nanoseconds. */
function stepOf(info: BucketInfo): bigint {
  const seconds = BigInt(Math.floor(timeOf(info) / 1_000))
  const [, fraction = ''] = /\.(\d+)/.exec(info.ts ?? '') ?? []
  return seconds * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0')) + 1n
}
