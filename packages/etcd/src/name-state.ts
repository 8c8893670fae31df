import { type Grant, LeaseConfigurationError, type LeaseRecord, type Metadata } from '@leasehold/core'
import { parsedJSON } from '@leasehold/core/store-kit'
import type { KeyValue, RequestOp, TxnResponse } from './client/api.js'
import type { KeySpace } from './key-space.js'

/** The last grant of a name. It is kept without a server lease: it outlasts the grant. */
export interface LeaseNote {
  readonly grantId: string
  readonly owner: string
  readonly ttl: number
  readonly state: 'leased' | 'breaking' | 'available'
  /**
   * Absent in the write that made the grant: the token is then the revision of that write. Present in it only as long as an
   * earlier token was raised above the revisions.
   */
  readonly token?: string
  readonly metadata: Metadata
  readonly previous?: Metadata
  readonly breakReason?: string
}

/** The value of a key in the queue of a name: the id of a grant that is held, broken or waited for. */
export interface ClaimNote {
  readonly held?: string
  readonly broken?: string
  readonly waiting?: string
  /** The owner of the grant. This field and the next ones are present while the name has a holder. */
  readonly owner?: string
  readonly ttl?: number
  /** The server lease that the holder keeps alive. */
  readonly lease?: string
}

/** A key in the queue of a name: of its holder, of a waiter, or of a lock of another program. */
export interface Claim {
  readonly key: Buffer
  /** `undefined` if another program wrote it. */
  readonly note: ClaimNote | undefined
  readonly createRevision: string
  readonly modRevision: string
  readonly lease: string
}

/** A name as one read showed it. */
export interface NameState {
  readonly note: LeaseNote | undefined
  /** The revision of the last write of the note; `0` if there is none. */
  readonly noteRevision: string
  /** The claim that was created first: only it can be the holder. */
  readonly first: Claim | undefined
  /** The claim under the grant id for which the state was read. */
  readonly own: Claim | undefined
  /** How many keys are in the queue; `undefined` if the state was written, not read. */
  readonly queued?: number
  /** The revision of the store when it was read. */
  readonly revision: bigint
}

/** Before the first read: as if the name had never been used. */
export const UNUSED: NameState = {
  note: undefined,
  noteRevision: '0',
  first: undefined,
  own: undefined,
  revision: 0n,
}

/** The operations that read a name; {@link stateIn} has the answer. */
export function readsOf(keys: KeySpace, name: string, grantId: string | undefined): RequestOp[] {
  const first = { ...keys.claimsOf(name), limit: '1', sortOrder: 1, sortTarget: 2 }
  const own = grantId === undefined ? [] : [{ requestRange: { key: keys.claimOf(name, grantId) } }]
  return [{ requestRange: { key: keys.recordOf(name) } }, { requestRange: first }, ...own]
}

/** Throws a `LeaseConfigurationError` if the key of the record holds other data. */
export function stateIn(name: string, { header, responses }: TxnResponse): NameState {
  const [record, first, own] = responses.map(({ responseRange }) => responseRange?.kvs[0])
  const queued = Number(responses[1]?.responseRange?.count ?? 0)
  const note = record && noteIn(record)
  if (record !== undefined && note === undefined) {
    throw new LeaseConfigurationError(
      `the key '${record.key}' of lease '${name}' holds other data: give the store a prefix of its own, or delete the key`,
      { leaseName: name, store: 'etcd' },
    )
  }
  return {
    note,
    noteRevision: record?.modRevision ?? '0',
    first: first && claimIn(first),
    own: own && claimIn(own),
    queued,
    revision: BigInt(header.revision),
  }
}

export function claimIn({ key, value, createRevision, modRevision, lease }: KeyValue): Claim {
  return { key, note: parsed<ClaimNote>(value, 'held', 'broken', 'waiting'), createRevision, modRevision, lease }
}

/** `undefined` if another program wrote the key. */
export function noteIn({ value, modRevision }: KeyValue): LeaseNote | undefined {
  const note = parsed<Omit<LeaseNote, 'ttl'> & { readonly ttl: number | 'infinite' }>(value, 'grantId')
  if (note === undefined) return undefined
  const ttl = note.ttl === 'infinite' ? Number.POSITIVE_INFINITY : note.ttl
  return { ...note, ttl, token: note.token ?? modRevision }
}

/** The token of a note that was read or written; 0 for one that was not. */
export function tokenOf({ token = '0' }: LeaseNote): bigint {
  return BigInt(token)
}

/**
 * The token that the record of the next grant needs: one more than that of the last grant, if that is larger than the
 * revisions. `undefined`: the token is the revision of the write, which is larger than the revision that was seen.
 */
export function raisedToken({ note, revision }: NameState): string | undefined {
  const last = note === undefined ? 0n : tokenOf(note)
  return last > revision ? String(last + 1n) : undefined
}

/** Returns a note as JSON. `Infinity`, which has no JSON, is a text in it. */
export function toValue(note: LeaseNote | ClaimNote): Buffer {
  return Buffer.from(
    JSON.stringify(note, (_, value: unknown) => (value === Number.POSITIVE_INFINITY ? 'infinite' : value)),
  )
}

function parsed<T>(value: Buffer, ...keys: readonly string[]): T | undefined {
  const note = parsedJSON(value.toString())
  return typeof note === 'object' && note !== null && keys.some((key) => key in note) ? (note as T) : undefined
}

/** The claim that locks the name; `undefined` if the name is free, though a waiter may be first in the queue. */
export function lockIn({ first }: NameState): Claim | undefined {
  return first?.note?.waiting === undefined ? first : undefined
}

/** The claim of the grant with this id, if that grant is in force. */
export function holdingClaim({ first }: NameState, grantId: string): Claim | undefined {
  return first?.note?.held === grantId ? first : undefined
}

/**
 * Whether the record is that of a later grant under the same id: a late duplicate of a claim can be granted again. The
 * earlier grant, with its smaller token, stays over.
 */
export function isLater({ note }: NameState, { grantId, fencingToken }: Grant): boolean {
  return note?.grantId === grantId && tokenOf(note) > fencingToken
}

/** The record with the number of those that wait, as answers to `read` and `list` have it. */
export function toWholeRecord(name: string, state: NameState, remaining: number | undefined): LeaseRecord | undefined {
  const record = toLeaseRecord(name, state, remaining)
  const { queued } = state
  if (record === undefined || queued === undefined) return record
  return { ...record, waiters: lockIn(state) === undefined ? queued : queued - 1 }
}

/** `remaining`: milliseconds until the lock can end, where they are known. */
export function toLeaseRecord(name: string, state: NameState, remaining?: number): LeaseRecord | undefined {
  const { note } = state
  const lock = lockIn(state)
  const left = remaining === undefined || lock === undefined ? {} : { remaining }
  if (note === undefined || (lock !== undefined && (lock.note?.held ?? lock.note?.broken) !== note.grantId)) {
    return lock === undefined ? undefined : { ...unrecorded(name, lock), ...left }
  }
  const { grantId, owner, ttl, previous } = note
  return {
    name,
    owner,
    grantId,
    fencingToken: tokenOf(note),
    ttl,
    state: stateOf(note, lock !== undefined),
    metadata: leftBy(note),
    ...(previous === undefined || lock === undefined ? {} : { previous }),
    ...left,
  }
}

function stateOf({ state }: LeaseNote, isLocked: boolean): LeaseRecord['state'] {
  if (isLocked) return state === 'breaking' ? 'breaking' : 'leased'
  if (state === 'leased') return 'expired'
  return state === 'breaking' ? 'broken' : 'available'
}

/** The metadata that the next holder finds. */
export function leftBy({ metadata, breakReason }: LeaseNote): Metadata {
  return breakReason === undefined ? metadata : { ...metadata, breakReason }
}

/** The holder of a lock of another program, or of a grant whose record was deleted. */
function unrecorded(name: string, { note, createRevision }: Claim): LeaseRecord {
  const { held: grantId = '', owner = '', ttl } = note ?? {}
  // In a note that was read, infinity is a text.
  const known = grantId === '' ? {} : { ttl: typeof ttl === 'number' ? ttl : Number.POSITIVE_INFINITY }
  return { name, owner, grantId, fencingToken: BigInt(createRevision), state: 'leased', metadata: {}, ...known }
}

/** The holder of the name, as a property of an outcome; absent if the name is free, but it is a waiter's turn. */
export function holderIn(name: string, state: NameState): { holder?: LeaseRecord } {
  const holder = lockIn(state) === undefined ? undefined : toLeaseRecord(name, state)
  return holder === undefined ? {} : { holder }
}
