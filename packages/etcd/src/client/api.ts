/** The header of every answer. Revisions and terms are decimal digits. */
interface Header {
  readonly revision: string
  readonly raftTerm: string
}

export interface KeyValue {
  readonly key: Buffer
  readonly value: Buffer
  readonly createRevision: string
  readonly modRevision: string
  /** The id of the server lease to which the key is attached; `0` if there is none. */
  readonly lease: string
}

interface RangeRequest {
  readonly key: Buffer
  readonly rangeEnd?: Buffer
  readonly limit?: number
  readonly revision?: string
  /** 1: ascending, 2: descending. */
  readonly sortOrder?: 1 | 2
  /** 2: by the revision of creation. */
  readonly sortTarget?: 2
  readonly keysOnly?: boolean
  readonly maxCreateRevision?: string
}

interface RangeResponse {
  readonly header: Header | null
  readonly kvs: readonly KeyValue[]
  readonly more: boolean
  /** Of all keys in the range, also where `limit` cuts the answer short. */
  readonly count: string
}

interface PutRequest {
  readonly key: Buffer
  readonly value: Buffer
  readonly lease?: string
}

/** Exactly one field. */
export interface RequestOp {
  readonly requestRange?: RangeRequest
  readonly requestPut?: PutRequest
  readonly requestDeleteRange?: { readonly key: Buffer; readonly rangeEnd?: Buffer }
  readonly requestTxn?: TxnRequest
}

export interface ResponseOp {
  readonly responseRange: RangeResponse | null
  readonly responseTxn: TxnResponse | null
}

/** The results and targets of a compare, by the numbers of the API. */
export const EQUAL = 0
export const LESS = 2
export const CREATE = 1
export const MOD = 2
export const VALUE = 3

export interface Compare {
  readonly result: 0 | 1 | 2 | 3
  readonly target: 0 | 1 | 2 | 3 | 4
  readonly key: Buffer
  readonly rangeEnd?: Buffer
  readonly version?: string
  readonly createRevision?: string
  readonly modRevision?: string
  readonly value?: Buffer
  readonly lease?: string
}

interface TxnRequest {
  readonly compare: readonly Compare[]
  readonly success: readonly RequestOp[]
  readonly failure: readonly RequestOp[]
}

export interface TxnResponse {
  readonly header: Header
  readonly succeeded: boolean
  readonly responses: readonly ResponseOp[]
}

/** `TTL` in seconds, at most 0 if the lease is gone. */
interface LeaseAnswer {
  readonly header: Header
  readonly ID: string
  readonly TTL: string
}

/** The unary methods: the requests and answers of each. */
export interface Methods {
  readonly range: { readonly request: RangeRequest; readonly answer: RangeResponse & { readonly header: Header } }
  readonly txn: { readonly request: TxnRequest; readonly answer: TxnResponse }
  readonly leaseGrant: { readonly request: { readonly TTL: number; readonly ID: string }; readonly answer: LeaseAnswer }
  readonly leaseKeepAlive: { readonly request: { readonly ID: string }; readonly answer: LeaseAnswer }
  readonly leaseTimeToLive: { readonly request: { readonly ID: string }; readonly answer: LeaseAnswer }
  readonly authenticate: {
    readonly request: { readonly name: string; readonly password: string }
    readonly answer: { readonly token: string }
  }
}

export interface WatchRequest {
  readonly createRequest?: {
    readonly key: Buffer
    readonly rangeEnd?: Buffer
    readonly startRevision: string
    /** 0: no puts. */
    readonly filters: readonly 0[]
    readonly watchId: number
  }
  readonly cancelRequest?: { readonly watchId: number }
  readonly progressRequest?: Record<string, never>
}

export interface WatchResponse {
  readonly watchId: string
  readonly canceled: boolean
  readonly events: readonly object[]
}
