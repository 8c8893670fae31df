import { BlobServiceClient, ContainerClient, newPipeline, type PipelineLike } from '@azure/storage-blob'
import { LeaseConfigurationError } from '@leasehold/core'

/** The header under which the logs of the service have the id of a client. */
export const CLIENT_REQUEST_ID = 'x-ms-client-request-id'

/** Up to 1,024 visible characters, as in the reference of the service. */
const accepted = /^[\x21-\x7e]([\x20-\x7e]{0,1022}[\x21-\x7e])?$/

/** The operation of a store that a request is part of. One operation can take several requests. */
export interface AzureBlobOperation {
  readonly operation: 'acquire' | 'renew' | 'update' | 'release' | 'read' | 'list' | 'change' | 'break'
  /** Absent for a listing. */
  readonly leaseName?: string
}

/** The id of every request, or a function that is called for each request. */
export type ClientRequestId = string | ((operation: AzureBlobOperation) => string)

/** Sets the client request id of the requests of a store, which it knows by the signals of their calls. */
export class ClientRequestIds {
  readonly #id: ClientRequestId
  readonly #operations = new WeakMap<object, AzureBlobOperation>()

  /** Throws a `LeaseConfigurationError` for a string that the service does not accept. */
  constructor(id: ClientRequestId) {
    if (typeof id !== 'function') checkId(id)
    this.#id = id
  }

  /** The requests that get this signal are part of this operation. */
  mark(signal: AbortSignal, operation: AzureBlobOperation): void {
    this.#operations.set(signal, operation)
  }

  /**
   * The same client with a pipeline of its own. The pipeline of the given client is not changed: the application may use it
   * for other requests.
   */
  over<C extends ContainerClient | BlobServiceClient>(client: C): C
  over(client: ContainerClient | BlobServiceClient): ContainerClient | BlobServiceClient {
    const { factories, options } = pipelineOf(client)
    const pipeline = newPipeline(client.credential, options)
    pipeline.factories.push(...factories, {
      create: (next) => ({
        sendRequest: async (request) => {
          const operation = request.abortSignal && this.#operations.get(request.abortSignal)
          if (operation !== undefined) request.headers.set(CLIENT_REQUEST_ID, this.#idOf(operation))
          return await next.sendRequest(request)
        },
      }),
    })
    return 'getContainerClient' in client
      ? new BlobServiceClient(client.url, pipeline)
      : new ContainerClient(client.url, pipeline)
  }

  #idOf(operation: AzureBlobOperation): string {
    const id = typeof this.#id === 'function' ? this.#id(operation) : this.#id
    checkId(id)
    return id
  }
}

/** The SDK declares it for subclasses only. */
function pipelineOf(client: object): PipelineLike {
  return (client as { readonly pipeline: PipelineLike }).pipeline
}

function checkId(id: unknown): void {
  if (typeof id === 'string' && accepted.test(id)) return
  throw new LeaseConfigurationError(
    'clientRequestId must be, or return, 1 to 1,024 characters of ASCII: letters, digits, signs, and spaces in between',
    { store: 'azure-blob' },
  )
}
