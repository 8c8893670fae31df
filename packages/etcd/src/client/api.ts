/** A field: its number and type; `repeated` if it may come many times, `optional` if a message may lack it. */
type Field = readonly [id: number, type: string, rule?: 'repeated' | 'optional']

/**
 * The messages of etcd's API of version 3 that this package sends and receives, with the fields that it uses. The numbers
 * are those of `rpc.proto` and `kv.proto` of etcd. Enumerations are declared as numbers.
 */
export const messages = {
  ResponseHeader: { revision: [3, 'int64'], raftTerm: [4, 'uint64'] },
  KeyValue: {
    key: [1, 'bytes'],
    createRevision: [2, 'int64'],
    modRevision: [3, 'int64'],
    value: [5, 'bytes'],
    // The id of the server lease to which the key is attached; 0 if there is none.
    lease: [6, 'int64'],
  },
  RangeRequest: {
    key: [1, 'bytes'],
    rangeEnd: [2, 'bytes', 'optional'],
    limit: [3, 'int64', 'optional'],
    revision: [4, 'int64', 'optional'],
    // 1: ascending, 2: descending.
    sortOrder: [5, 'int32', 'optional'],
    // 2: by the revision of creation.
    sortTarget: [6, 'int32', 'optional'],
    keysOnly: [8, 'bool', 'optional'],
    maxCreateRevision: [13, 'int64', 'optional'],
  },
  RangeResponse: {
    header: [1, 'ResponseHeader'],
    kvs: [2, 'KeyValue', 'repeated'],
    more: [3, 'bool'],
    // The number of all keys in the range, also where `limit` cuts the answer short.
    count: [4, 'int64'],
  },
  PutRequest: { key: [1, 'bytes'], value: [2, 'bytes'], lease: [3, 'int64', 'optional'] },
  DeleteRangeRequest: { key: [1, 'bytes'], rangeEnd: [2, 'bytes', 'optional'] },
  // Exactly one field.
  RequestOp: {
    requestRange: [1, 'RangeRequest', 'optional'],
    requestPut: [2, 'PutRequest', 'optional'],
    requestDeleteRange: [3, 'DeleteRangeRequest', 'optional'],
    requestTxn: [4, 'TxnRequest', 'optional'],
  },
  ResponseOp: { responseRange: [1, 'RangeResponse', 'optional'], responseTxn: [4, 'TxnResponse', 'optional'] },
  Compare: {
    result: [1, 'int32'],
    target: [2, 'int32'],
    key: [3, 'bytes'],
    version: [4, 'int64', 'optional'],
    createRevision: [5, 'int64', 'optional'],
    modRevision: [6, 'int64', 'optional'],
    value: [7, 'bytes', 'optional'],
    rangeEnd: [64, 'bytes', 'optional'],
  },
  TxnRequest: {
    compare: [1, 'Compare', 'repeated'],
    success: [2, 'RequestOp', 'repeated'],
    failure: [3, 'RequestOp', 'repeated'],
  },
  TxnResponse: {
    header: [1, 'ResponseHeader'],
    succeeded: [2, 'bool'],
    responses: [3, 'ResponseOp', 'repeated'],
  },
  LeaseGrantRequest: { TTL: [1, 'int64'], ID: [2, 'int64'] },
  // The TTL of the answers is in seconds, and at most 0 if the lease is gone.
  LeaseGrantResponse: { header: [1, 'ResponseHeader'], ID: [2, 'int64'], TTL: [3, 'int64'] },
  LeaseTimeToLiveRequest: { ID: [1, 'int64'] },
  LeaseTimeToLiveResponse: { header: [1, 'ResponseHeader'], ID: [2, 'int64'], TTL: [3, 'int64'] },
  LeaseKeepAliveRequest: { ID: [1, 'int64'] },
  LeaseKeepAliveResponse: { header: [1, 'ResponseHeader'], ID: [2, 'int64'], TTL: [3, 'int64'] },
  AuthenticateRequest: { name: [1, 'string'], password: [2, 'string'] },
  AuthenticateResponse: { header: [1, 'ResponseHeader'], token: [2, 'string'] },
  WatchCreateRequest: {
    key: [1, 'bytes'],
    rangeEnd: [2, 'bytes', 'optional'],
    startRevision: [3, 'int64'],
    // 0: no puts.
    filters: [5, 'int32', 'repeated'],
    watchId: [7, 'int64'],
  },
  WatchCancelRequest: { watchId: [1, 'int64'] },
  WatchProgressRequest: {},
  WatchRequest: {
    createRequest: [1, 'WatchCreateRequest', 'optional'],
    cancelRequest: [2, 'WatchCancelRequest', 'optional'],
    progressRequest: [3, 'WatchProgressRequest', 'optional'],
  },
  Event: { type: [1, 'int32'] },
  WatchResponse: { watchId: [2, 'int64'], canceled: [4, 'bool'], events: [11, 'Event', 'repeated'] },
} as const satisfies Record<string, Readonly<Record<string, Field>>>

/**
 * The unary methods, and the services that have them. The server takes a stream of keep-alives as well. But with a request
 * for each keep-alive, the next one can reach a new leader while a follower still waits for a leader that hangs.
 */
export const services = {
  Range: 'KV',
  Txn: 'KV',
  LeaseGrant: 'Lease',
  LeaseKeepAlive: 'Lease',
  LeaseTimeToLive: 'Lease',
  Authenticate: 'Auth',
} as const

type Messages = typeof messages
export type MessageName = keyof Messages
export type Method = keyof typeof services

interface Scalars {
  int32: number
  int64: string
  uint64: string
  bool: boolean
  string: string
  bytes: Buffer
}

type Optional = readonly [number, string, 'optional']

type Value<T> = T extends keyof Scalars ? Scalars[T] : T extends MessageName ? Message<T> : never

type FieldValue<F> = F extends readonly [number, infer T, 'repeated']
  ? readonly Value<T>[]
  : F extends readonly [number, infer T, ...unknown[]]
    ? Value<T>
    : never

/** Whole numbers of 64 bits are decimal digits. An answer has `null` for an absent message. */
export type Message<M extends MessageName> = {
  readonly [F in keyof Messages[M] as Messages[M][F] extends Optional ? never : F]: FieldValue<Messages[M][F]>
} & {
  readonly [F in keyof Messages[M] as Messages[M][F] extends Optional ? F : never]?: FieldValue<Messages[M][F]> | null
}

export type Request<M extends Method> = Message<`${M}Request`>
export type Answer<M extends Method> = Message<`${M}Response`>

export type Header = Message<'ResponseHeader'>
export type KeyValue = Message<'KeyValue'>
export type Compare = Message<'Compare'>
export type RequestOp = Message<'RequestOp'>
export type ResponseOp = Message<'ResponseOp'>
export type TxnRequest = Request<'Txn'>
export type TxnResponse = Answer<'Txn'>

/** The results and targets of a compare, by the numbers of the API. */
export const EQUAL = 0
export const LESS = 2
export const VERSION = 0
export const CREATE = 1
export const MOD = 2
export const VALUE = 3
