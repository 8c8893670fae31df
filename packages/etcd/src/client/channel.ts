import { ChannelCredentials, Client, credentials, Metadata } from '@grpc/grpc-js'
import type { StoreCall } from '@leasehold/core/store'
import { misconfigured } from '../etcd-options.js'
import type { Answer, Method, Request } from './api.js'
import type { Connection, Credential } from './connection.js'
import { openWatch, sendUnary, type WatchStream } from './grpc-calls.js'
import { type GrpcConnection, type GrpcCredentials, isGrpcClient, isGrpcCredentials } from './grpc-connection.js'

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

/** One gRPC channel to one member. */
export class Channel implements Connection {
  readonly #client: Client
  readonly #isOwn: boolean

  private constructor(client: Client, isOwn: boolean) {
    this.#client = client
    this.#isOwn = isOwn
  }

  /** `address` is `host:port`. Without certificates or credentials, it speaks plain text. */
  static to(address: string, given: EtcdTls | GrpcCredentials | undefined): Channel {
    return new Channel(new Client(address, credentialsOf(given), OPTIONS), true)
  }

  /**
   * The channel of the user, which stays open. Requests go through a client of this copy of gRPC: one of another copy does
   * not recognise the metadata of this one.
   */
  static of(connection: GrpcConnection): Channel {
    const channelOverride = isGrpcClient(connection) ? connection.getChannel() : connection
    const options = { channelOverride }
    return new Channel(new Client(channelOverride.getTarget(), credentials.createInsecure(), options), false)
  }

  unary<M extends Method>(method: M, request: Request<M>, token: Credential, call: StoreCall): Promise<Answer<M>> {
    return sendUnary(this.#client, method, request, metadataOf(token), call)
  }

  watch(token: Credential): WatchStream {
    return openWatch(this.#client, metadataOf(token))
  }

  close(): void {
    if (this.#isOwn) this.#client.close()
  }
}

function credentialsOf(given: EtcdTls | GrpcCredentials | undefined): ChannelCredentials {
  if (given === undefined) return credentials.createInsecure()
  if (given instanceof ChannelCredentials) return given
  if (isGrpcCredentials(given)) {
    throw misconfigured('credentials are of another copy of @grpc/grpc-js: give clients, which can be of any copy')
  }
  const [ca, key, cert] = [given.ca, given.key, given.cert].map((pem) => (pem === undefined ? null : Buffer.from(pem)))
  return credentials.createSsl(ca, key, cert)
}

function metadataOf(token: Credential): Metadata {
  const metadata = new Metadata()
  if (typeof token === 'string') metadata.set('token', token)
  return metadata
}
