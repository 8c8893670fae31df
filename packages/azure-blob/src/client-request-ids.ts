import type { BlobServiceClient, ContainerClient, PipelineLike } from '@azure/storage-blob'
import { LeaseConfigurationError } from '@leasehold/core'

/** The header under which the logs of the service have the id of a client. */
export const CLIENT_REQUEST_ID = 'x-ms-client-request-id'

/** Up to 1,024 visible characters, as in the reference of the service. */
const accepted = /^[\x21-\x7e]([\x20-\x7e]{0,1022}[\x21-\x7e])?$/

/** The operation of a store that a request is part of. One operation can take several requests. */
export interface AzureBlobOperation {
  readonly operation: 'acquire' | 'renew' | 'update' | 'raise' | 'release' | 'read' | 'list' | 'change' | 'break'
  /** Absent for a listing. */
  readonly leaseName?: string
}

/** The id of every request, or a function that is called for each request. */
export type ClientRequestId = string | ((operation: AzureBlobOperation) => string)

/** Sets the client request id of the requests of a store. It finds the operation of a request by the signal of the call. */
export class ClientRequestIds<Resources> {
  readonly #id: ClientRequestId
  readonly #client: ContainerClient | BlobServiceClient
  readonly #over: (client: ContainerClient | BlobServiceClient) => Resources
  readonly #operations = new WeakMap<object, AzureBlobOperation>()
  #resources: Promise<Resources> | undefined

  /**
   * Throws a `LeaseConfigurationError` for a string that the service does not accept. `over` returns the object that sends
   * the requests, for a client that sets the ids.
   */
  constructor(
    id: ClientRequestId,
    client: ContainerClient | BlobServiceClient,
    over: (client: ContainerClient | BlobServiceClient) => Resources,
  ) {
    if (typeof id !== 'function') checkId(id)
    this.#id = id
    this.#client = client
    this.#over = over
  }

  /** Makes all requests with this signal part of this operation. Resolves with the object that sends them. */
  mark(signal: AbortSignal, operation: AzureBlobOperation): Promise<Resources> {
    this.#operations.set(signal, operation)
    this.#resources ??= this.#identified().then(this.#over)
    return this.#resources
  }

  /**
   * The same client with a pipeline of its own. The pipeline of the given client is not changed: the application may use it
   * for other requests. The SDK is loaded here, and not by every program that imports this package.
   */
  async #identified(): Promise<ContainerClient | BlobServiceClient> {
    const { BlobServiceClient, ContainerClient, newPipeline } = await import('@azure/storage-blob')
    const client = this.#client
    // The SDK declares its pipeline for subclasses only.
    const { factories, options } = (client as unknown as { readonly pipeline: PipelineLike }).pipeline
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

function checkId(id: unknown): void {
  if (typeof id === 'string' && accepted.test(id)) return
  throw new LeaseConfigurationError(
    'clientRequestId must be, or return, 1 to 1,024 characters of ASCII: letters, digits, signs, and spaces in between',
    { store: 'azure-blob' },
  )
}
