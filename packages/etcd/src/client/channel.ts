import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import type { StoreCall } from '@leasehold/core/store'
import { type Answer, type Message, type Method, type Request, services } from './api.js'
import { decode, encode } from './messages.js'

/**
 * A connection that is silent for 15 s is ended. A member that comes back is found within a second. Channels share no
 * connections, so that the end of one does not affect others. A server accepts answers of any size.
 */
const OPTIONS = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.max_receive_message_length': -1,
  'grpc.enable_retries': 0,
}

/** PEM texts. */
export interface EtcdTls {
  /** The certificates that are trusted; those of the system unless given. */
  readonly ca?: string | undefined
  /** The certificate of this client, and its private key. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** The method of `Client` of `@grpc/grpc-js`, and of the clients that are made by it, that this package calls. */
export type GrpcClient = Pick<Client, 'getChannel'>

export type WatchStream = ClientDuplexStream<Message<'WatchRequest'>, Message<'WatchResponse'>>

/** One gRPC channel to one member. */
export class Channel {
  readonly #client: Client
  readonly #isOwn: boolean

  private constructor(client: Client, isOwn: boolean) {
    this.#client = client
    this.#isOwn = isOwn
  }

  /** `address` is `host:port`. Without `tls`, it speaks plain text. */
  static to(address: string, tls: EtcdTls | undefined): Channel {
    return new Channel(new Client(address, credentialsOf(tls), OPTIONS), true)
  }

  /**
   * The channel of a client of the user, which stays open. Requests go through a client of this copy of gRPC: one of another
   * copy does not recognise the metadata of this one.
   */
  static of(client: GrpcClient): Channel {
    const channelOverride = client.getChannel()
    return new Channel(
      new Client(channelOverride.getTarget(), credentials.createInsecure(), { channelOverride }),
      false,
    )
  }

  /** Rejects with a `ServiceError`, or with the reason of the abort. */
  unary<M extends Method>(
    method: M,
    request: Request<M>,
    token: string | undefined,
    call: StoreCall,
  ): Promise<Answer<M>> {
    return new Promise((resolve, reject) => {
      if (call.aborted) return reject(call.signal.reason)
      const sent = this.#client.makeUnaryRequest<object, object>(
        `/etcdserverpb.${services[method]}/${method}`,
        (fields) => encode(`${method}Request`, fields),
        (bytes) => decode(`${method}Response`, bytes),
        request,
        metadataOf(token),
        (error: ServiceError | null, answer?: object) => {
          removeListener()
          if (error === null) resolve(answer as Answer<M>)
          else reject(error)
        },
      )
      const removeListener = call.onAbort(() => {
        reject(call.signal.reason)
        sent.cancel()
      })
    })
  }

  /** A stream that the server ends when its member has no leader. */
  watch(token: string | undefined): WatchStream {
    const metadata = metadataOf(token)
    metadata.set('hasleader', 'true')
    return this.#client.makeBidiStreamRequest(
      '/etcdserverpb.Watch/Watch',
      (fields) => encode('WatchRequest', fields),
      (bytes) => decode('WatchResponse', bytes) as Message<'WatchResponse'>,
      metadata,
    )
  }

  close(): void {
    if (this.#isOwn) this.#client.close()
  }
}

function credentialsOf(tls: EtcdTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure()
  const [ca, key, cert] = [tls.ca, tls.key, tls.cert].map((pem) => (pem === undefined ? null : Buffer.from(pem)))
  return credentials.createSsl(ca, key, cert)
}

function metadataOf(token: string | undefined): Metadata {
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('token', token)
  return metadata
}
