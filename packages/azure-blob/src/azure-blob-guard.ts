import type { BlobDeleteOptions, BlobRequestConditions, BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { Fence, type FencingGuard, type GuardOptions } from '@leasehold/core/store'
import { inRounds } from '@leasehold/core/store-kit'
import { failureOf } from './failure-of.js'
import { codeOf, isAbout, isStatus, unless } from './service-answer.js'

/** The metadata key of the largest token under which a blob was written. */
const KEY = 'leaseholdfence'

/** The metadata key that marks a deleted blob. */
const DELETED = 'leaseholddeleted'

/** The options that an operation must pass to the SDK. Without them, the write is not fenced. */
export interface FencedWrite {
  /** The condition that nobody has written the blob since its token was compared. */
  readonly conditions: BlobRequestConditions
  /** The metadata of the blob, with the token in it. */
  readonly metadata: Record<string, string>
  /** The `signal` of the call. */
  readonly abortSignal?: AbortSignal
}

/**
 * Checks fencing tokens for blobs other than that of the lease: a holder that has lost its lease without noticing cannot
 * overwrite the writes of its successor. Every write and deletion of the blob has to use a guard.
 *
 * All methods reject with a `LeaseLostError` if the blob was written or deleted under a larger token. Failures of the guard's
 * own requests, and conflicts with a lease on the blob, are typed errors. There is no time limit unless a `signal` is given.
 *
 * The token is in the metadata of the blob, so that the check and the write are one step. The service keeps no metadata of
 * a deleted blob. Therefore a deletion through a guard leaves an empty blob, whose metadata has the token and
 * `leaseholddeleted`. A blob that is deleted without a guard loses its token.
 */
export class AzureBlobGuard implements FencingGuard {
  readonly #container: ContainerClient

  /** `container`: the caller's client for the container with the blobs. */
  constructor(container: ContainerClient) {
    this.#container = container
  }

  /** Replaces the content of a blob. Its metadata stays. */
  async write(
    blobName: string,
    fencingToken: bigint | string,
    content: string | Uint8Array,
    options?: GuardOptions,
  ): Promise<void> {
    const upload = (blob: BlockBlobClient, fenced: FencedWrite) =>
      blob.upload(content, Buffer.byteLength(content), { ...fenced })
    await this.transact(blobName, fencingToken, upload, options)
  }

  /**
   * Deletes the content and the metadata of a blob. An empty blob stays, whose metadata has the token and `leaseholddeleted`,
   * so that old tokens are still rejected. Readers have to treat it as deleted. Remove it without the guard when no process
   * with an older token can run any more.
   */
  async delete(blobName: string, fencingToken: bigint | string, options?: GuardOptions): Promise<void> {
    await this.transact(blobName, fencingToken, (blob) => blob.delete(), options)
  }

  /**
   * Writes a blob by any operation of the SDK that takes conditions and metadata. Calls `work` again when another writer was
   * faster; also after a write of its own whose answer was lost, because the SDK sends that again, and is refused. Other errors
   * of `work` pass through unchanged, and the token of the blob stays.
   *
   * `delete` and `deleteIfExists` of the client in `work` leave an empty blob, like {@link AzureBlobGuard.delete}.
   */
  async transact<T>(
    blobName: string,
    fencingToken: bigint | string,
    work: (blob: BlockBlobClient, fenced: FencedWrite) => Promise<T>,
    options?: GuardOptions,
  ): Promise<T> {
    const fence = new Fence('azure-blob', blobName, fencingToken, options)
    const { signal } = fence
    const limit = signal === undefined ? {} : { abortSignal: signal }
    const details = { leaseName: blobName, store: 'azure-blob' }
    const { result } = await inRounds(blobName, details, async () => {
      const blob = this.#container.getBlockBlobClient(blobName)
      try {
        const fenced = await compare(blob, fence, limit)
        const { ifMatch } = fenced.conditions
        try {
          return { result: await work(withoutDeletion(blob, fence.token, fenced), fenced) }
        } catch (error) {
          if (isLeased(error, blob)) throw failureOf('write', blobName, error)
          if (!(await isRace(error, blob, ifMatch, limit))) throw error
          return undefined
        }
      } catch (error) {
        throw signal?.aborted && isAbort(error) ? signal.reason : error
      }
    })
    return result
  }
}

/** Replaces the methods that delete the blob: they now empty it and keep its token. */
function withoutDeletion(blob: BlockBlobClient, fencingToken: bigint, fenced: FencedWrite): BlockBlobClient {
  const metadata = { [KEY]: String(fencingToken), [DELETED]: 'true' }
  const empty = async ({ conditions, ...options }: BlobDeleteOptions = {}) => {
    const { abortSignal = options.abortSignal } = fenced
    return await blob.upload('', 0, {
      ...(abortSignal === undefined ? {} : { abortSignal }),
      conditions: { ...conditions, ...fenced.conditions },
      metadata,
    })
  }
  return Object.assign(blob, {
    delete: empty,
    deleteIfExists: async (options?: BlobDeleteOptions) => ({ succeeded: true, ...(await empty(options)) }),
  })
}

/** Whether the SDK ended a request because of the signal. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** Whether the blob is leased, and the write was not under its lease. */
function isLeased(error: unknown, blob: BlockBlobClient): boolean {
  return codeOf(error)?.startsWith('Lease') === true && isAbout(error, blob.url)
}

/**
 * Whether another writer was faster: the service answers 412, or 409 if the blob was created, and the ETag has changed.
 * Any other 409 or 412 is an error of the caller, such as one for another blob.
 */
async function isRace(
  error: unknown,
  blob: BlockBlobClient,
  etag: string | undefined,
  limit: { readonly abortSignal?: AbortSignal },
): Promise<boolean> {
  if (!isStatus(error, 412) && !isStatus(error, 409)) return false
  const found = await unless([404], () => blob.getProperties({ ...limit })).catch(() => ({ etag }))
  return found?.etag !== etag
}

/** Compares the token with that of the blob, and returns the options for the write. */
async function compare(
  blob: BlockBlobClient,
  fence: Fence,
  limit: { readonly abortSignal?: AbortSignal },
): Promise<FencedWrite> {
  // The SDK adds to the given options, so it gets a copy.
  const request = unless([404], () => blob.getProperties({ ...limit }))
  const found = await request.catch((error: unknown) => {
    throw isAbort(error) ? error : failureOf('write', blob.name, error)
  })
  const entries = Object.entries(found?.metadata ?? {})
  const [, seen] = entries.find(([key]) => key.toLowerCase() === KEY) ?? []
  fence.check(seen)
  const others = entries.filter(([key]) => ![KEY, DELETED].includes(key.toLowerCase()))
  return {
    ...limit,
    conditions: found === undefined ? { ifNoneMatch: '*' } : { ifMatch: found.etag ?? '' },
    metadata: { ...Object.fromEntries(others), [KEY]: String(fence.token) },
  }
}
