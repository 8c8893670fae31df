import protobuf from 'protobufjs/light.js'

/** A field: its number and type, and `repeated` where it may come many times. */
type Field = readonly [id: number, type: string, rule?: 'repeated']

/**
 * The messages of etcd's API of version 3 that this package sends and receives, with the fields that it uses. The numbers
 * are those of `rpc.proto` and `kv.proto` of etcd. Enumerations are declared as numbers.
 */
const messages = {
  ResponseHeader: { revision: [3, 'int64'], raftTerm: [4, 'uint64'] },
  KeyValue: {
    key: [1, 'bytes'],
    createRevision: [2, 'int64'],
    modRevision: [3, 'int64'],
    value: [5, 'bytes'],
    lease: [6, 'int64'],
  },
  RangeRequest: {
    key: [1, 'bytes'],
    rangeEnd: [2, 'bytes'],
    limit: [3, 'int64'],
    revision: [4, 'int64'],
    sortOrder: [5, 'int32'],
    sortTarget: [6, 'int32'],
    keysOnly: [8, 'bool'],
    maxCreateRevision: [13, 'int64'],
  },
  RangeResponse: {
    header: [1, 'ResponseHeader'],
    kvs: [2, 'KeyValue', 'repeated'],
    more: [3, 'bool'],
    count: [4, 'int64'],
  },
  PutRequest: { key: [1, 'bytes'], value: [2, 'bytes'], lease: [3, 'int64'] },
  DeleteRangeRequest: { key: [1, 'bytes'], rangeEnd: [2, 'bytes'] },
  RequestOp: {
    requestRange: [1, 'RangeRequest'],
    requestPut: [2, 'PutRequest'],
    requestDeleteRange: [3, 'DeleteRangeRequest'],
    requestTxn: [4, 'TxnRequest'],
  },
  ResponseOp: {
    responseRange: [1, 'RangeResponse'],
    responseTxn: [4, 'TxnResponse'],
  },
  Compare: {
    result: [1, 'int32'],
    target: [2, 'int32'],
    key: [3, 'bytes'],
    version: [4, 'int64'],
    createRevision: [5, 'int64'],
    modRevision: [6, 'int64'],
    value: [7, 'bytes'],
    lease: [8, 'int64'],
    rangeEnd: [64, 'bytes'],
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
  LeaseGrantResponse: { header: [1, 'ResponseHeader'], ID: [2, 'int64'], TTL: [3, 'int64'] },
  LeaseTimeToLiveRequest: { ID: [1, 'int64'] },
  LeaseTimeToLiveResponse: { header: [1, 'ResponseHeader'], ID: [2, 'int64'], TTL: [3, 'int64'] },
  LeaseKeepAliveRequest: { ID: [1, 'int64'] },
  LeaseKeepAliveResponse: { header: [1, 'ResponseHeader'], ID: [2, 'int64'], TTL: [3, 'int64'] },
  AuthenticateRequest: { name: [1, 'string'], password: [2, 'string'] },
  AuthenticateResponse: { header: [1, 'ResponseHeader'], token: [2, 'string'] },
  WatchCreateRequest: {
    key: [1, 'bytes'],
    rangeEnd: [2, 'bytes'],
    startRevision: [3, 'int64'],
    filters: [5, 'int32', 'repeated'],
    watchId: [7, 'int64'],
  },
  WatchCancelRequest: { watchId: [1, 'int64'] },
  WatchProgressRequest: {},
  WatchRequest: {
    createRequest: [1, 'WatchCreateRequest'],
    cancelRequest: [2, 'WatchCancelRequest'],
    progressRequest: [3, 'WatchProgressRequest'],
  },
  Event: { type: [1, 'int32'] },
  WatchResponse: {
    watchId: [2, 'int64'],
    canceled: [4, 'bool'],
    events: [11, 'Event', 'repeated'],
  },
} as const satisfies Record<string, Readonly<Record<string, Field>>>

export type MessageName = keyof typeof messages

const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(Object.entries(messages).map(([name, fields]) => [name, { fields: toFields(fields) }])),
})

function toFields(fields: Readonly<Record<string, Field>>): Record<string, protobuf.IField> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, [id, type, rule]]) => [
      name,
      rule === undefined ? { id, type } : { id, type, rule },
    ]),
  )
}

/** By their names: a look into the root takes longer. */
const types = new Map(Object.keys(messages).map((name) => [name, root.lookupType(name)]))

function typeOf(name: MessageName): protobuf.Type {
  return types.get(name) ?? root.lookupType(name)
}

/** Whole numbers of 64 bits may be texts. Bytes are buffers. */
export function encode(name: MessageName, fields: object): Buffer {
  const type = typeOf(name)
  return Buffer.from(type.encode(type.fromObject(fields)).finish())
}

/** Whole numbers of 64 bits are texts, bytes are buffers, and absent fields have their default. */
export function decode(name: MessageName, bytes: Buffer): object {
  const type = typeOf(name)
  return type.toObject(type.decode(bytes), { longs: String, defaults: true })
}
