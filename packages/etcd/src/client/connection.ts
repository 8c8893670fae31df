import type { Metadata } from '@grpc/grpc-js'
import type { StoreCall } from '@leasehold/core/store'
import type { Answer, Method, Request } from './api.js'
import type { WatchStream } from './grpc-calls.js'

/** What shows the server who asks: the token of a user, or the metadata in which an `Etcd3` object sends it. */
export type Credential = string | Metadata | undefined

/** A way to one member of the cluster. */
export interface Connection {
  /** Rejects with an error of gRPC, or with the reason of the abort. */
  unary<M extends Method>(method: M, request: Request<M>, credential: Credential, call: StoreCall): Promise<Answer<M>>
  /** A stream that the server ends when its member has no leader. */
  watch(credential: Credential): WatchStream
  /** Leaves open what belongs to the user. */
  close(): void
}
