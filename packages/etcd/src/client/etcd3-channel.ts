import type { Metadata } from '@grpc/grpc-js'
import type { StoreCall } from '@leasehold/core/store'
import type { Answer, Method, Request } from './api.js'
import type { Connection, Credential } from './connection.js'
import type { Etcd3Host } from './etcd3-object.js'
import { openWatch, sendUnary, type WatchStream } from './grpc-calls.js'

/**
 * The connection of an `Etcd3` object to one of its hosts. Our requests go over its channel, with its certificates and
 * options, but not through its methods: those repeat requests, and cannot cancel them.
 */
export class Etcd3Channel implements Connection {
  readonly #host: Etcd3Host

  constructor(host: Etcd3Host) {
    this.#host = host
  }

  async unary<M extends Method>(
    method: M,
    request: Request<M>,
    credential: Credential,
    call: StoreCall,
  ): Promise<Answer<M>> {
    return await sendUnary(this.#host.getServiceClient('KV'), method, request, credential as Metadata, call)
  }

  watch(credential: Credential): WatchStream {
    return openWatch(this.#host.getServiceClient('KV'), (credential as Metadata).clone())
  }

  /** The object is the user's. */
  close(): void {}
}
