import type { Client, ClientDuplexStream, Metadata, ServiceError } from '@grpc/grpc-js'
import type { StoreCall } from '@leasehold/core/store'
import { type Answer, type Message, type Method, type Request, services } from './api.js'
import { decode, encode } from './messages.js'

/** The methods of `Client` of `@grpc/grpc-js` that send requests. Client and metadata have to be of one copy of it. */
export type GrpcCaller = Pick<Client, 'makeUnaryRequest' | 'makeBidiStreamRequest'>

export type WatchStream = ClientDuplexStream<Message<'WatchRequest'>, Message<'WatchResponse'>>

/** Rejects with a `ServiceError`, or with the reason of the abort. */
export function sendUnary<M extends Method>(
  client: GrpcCaller,
  method: M,
  request: Request<M>,
  metadata: Metadata,
  call: StoreCall,
): Promise<Answer<M>> {
  return new Promise((resolve, reject) => {
    if (call.aborted) return reject(call.signal.reason)
    const sent = client.makeUnaryRequest<object, object>(
      `/etcdserverpb.${services[method]}/${method}`,
      (fields) => encode(`${method}Request`, fields),
      (bytes) => decode(`${method}Response`, bytes),
      request,
      metadata,
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

/** A stream that the server ends when its member has no leader. Changes the metadata. */
export function openWatch(client: GrpcCaller, metadata: Metadata): WatchStream {
  metadata.set('hasleader', 'true')
  return client.makeBidiStreamRequest(
    '/etcdserverpb.Watch/Watch',
    (fields) => encode('WatchRequest', fields),
    (bytes) => decode('WatchResponse', bytes) as Message<'WatchResponse'>,
    metadata,
  )
}
