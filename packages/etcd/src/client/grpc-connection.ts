import type { ChannelCredentials, Client } from '@grpc/grpc-js'

/** The method of `Client` of `@grpc/grpc-js`, and of the clients that are made by it, that this package calls. */
export type GrpcClient = Pick<Client, 'getChannel'>

/** A `Channel` of `@grpc/grpc-js`. */
export type GrpcChannel = ReturnType<Client['getChannel']>

/** The user's connection to a member. */
export type GrpcConnection = GrpcClient | GrpcChannel

/** The `ChannelCredentials` of `@grpc/grpc-js`, as far as they are checked before gRPC is loaded. */
export type GrpcCredentials = Pick<ChannelCredentials, '_isSecure'>

export function isGrpcClient(value: unknown): value is GrpcClient {
  return typeof (Object(value) as Partial<GrpcClient>).getChannel === 'function'
}

export function isGrpcChannel(value: unknown): value is GrpcChannel {
  const { getTarget, createCall } = Object(value) as Partial<GrpcChannel>
  return typeof getTarget === 'function' && typeof createCall === 'function'
}

export function isGrpcCredentials(value: unknown): value is GrpcCredentials {
  return typeof (Object(value) as Partial<GrpcCredentials>)._isSecure === 'function'
}
