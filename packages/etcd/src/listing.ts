import type { LeaseRecord } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { KeyValue } from './client/api.js'
import type { EtcdClient } from './client/etcd-client.js'
import type { KeySpace } from './key-space.js'
import { type Claim, claimIn, type LeaseNote, noteIn, toWholeRecord, UNUSED } from './name-state.js'
import type { ServerLeases } from './server-leases.js'

/** How many keys one request reads. */
const PAGE = '500'

interface Found {
  note: LeaseNote | undefined
  first: Claim | undefined
  /** How many keys are in its queue. */
  queued: number
}

interface Source {
  readonly client: EtcdClient
  readonly keys: KeySpace
  readonly leases: ServerLeases
}

/** The records of all names with the prefix, as they were at one revision of the store. */
export async function* listRecords(source: Source, prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
  const { client, keys, leases } = source
  const found = new Map<string, Found>()
  // Many names share a server lease.
  const remaining = new Map<string, number | undefined>()

  async function recordOf(name: string, { note, first, queued }: Found): Promise<LeaseRecord | undefined> {
    if (first !== undefined && !remaining.has(first.lease)) {
      remaining.set(first.lease, await leases.remaining(first, call))
    }
    return toWholeRecord(name, { ...UNUSED, note, first, queued }, remaining.get(first?.lease ?? ''))
  }

  for await (const kv of keysOf(client, keys, prefix, call)) {
    const at = keys.nameOf(kv.key)
    if (at === undefined || !at.name.startsWith(prefix)) continue
    // A name is complete when a key comes that is behind the range of its claims.
    for (const [name, one] of found) {
      if (Buffer.compare(keys.claimsOf(name).rangeEnd, kv.key) > 0) continue
      found.delete(name)
      const record = await recordOf(name, one)
      if (record !== undefined) yield record
    }
    const one = found.get(at.name) ?? { note: undefined, first: undefined, queued: 0 }
    found.set(at.name, one)
    if (at.isClaim) one.queued += 1
    if (!at.isClaim) one.note = noteIn(kv)
    else if (one.first === undefined || BigInt(kv.createRevision) < BigInt(one.first.createRevision)) {
      one.first = claimIn(kv)
    }
  }
  for (const [name, one] of found) {
    const record = await recordOf(name, one)
    if (record !== undefined) yield record
  }
}

async function* keysOf(client: EtcdClient, keys: KeySpace, prefix: string, call: StoreCall): AsyncGenerator<KeyValue> {
  const { rangeEnd, key: start } = keys.startingWith(prefix)
  let key = start
  let revision = '0'
  for (;;) {
    const { kvs, more, header } = await client.request('Range', { key, rangeEnd, limit: PAGE, revision }, call)
    yield* kvs
    const last = kvs.at(-1)
    if (!more || last === undefined) return
    // All pages are of one revision. The next key after the last one is that with a zero behind it.
    if (revision === '0') revision = header.revision
    key = Buffer.concat([last.key, Buffer.from([0])])
  }
}
