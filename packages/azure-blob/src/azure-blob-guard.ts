import type { BlobDeleteOptions, BlobRequestConditions, BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { checkFencingToken, LeaseConfigurationError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { failureOf } from './failure-of.js'
import { codeOf, isAbout, isStatus, orMissing } from './service-answer.js'

/** How often a write that lost a race against another is begun anew. */
const ROUNDS = 5

/** Where a blob keeps the largest token that wrote it. */
const KEY = 'leaseholdfence'

/** Marks what is left of a deleted blob. */
const DELETED = 'leaseholddeleted'

/** What a fenced write has to pass on to the SDK; without either, it is not fenced. */
export interface FencedWrite {
  /** Nobody has written the blob since its token was compared. */
  readonly conditions: BlobRequestConditions
  /** The metadata of the blob, with the token in it. */
  readonly metadata: Record<string, string>
  /** The time limit that was given, if one was. */
  readonly abortSignal?: AbortSignal
}

/**
 * Checks fencing tokens for blobs that the lease is not on: a holder that has lost its lease without knowing writes
 * nothing over what its successor has written. All who write or delete the blob have to do so through a guard.
 *
 * The fence is in the metadata of the blob, so that the fence and the write are one step. The service keeps nothing of a
 * blob that is gone. Therefore a deletion through a guard leaves an empty blob, whose metadata has the fence and
 * `leaseholddeleted`. A blob that is deleted past the guard loses its fence.
 */
export class AzureBlobGuard {
  readonly #container: ContainerClient

  /** The container of the blobs, by a client of the caller's own. */
  constructor(container: ContainerClient) {
    this.#container = container
  }

  /**
   * Writes a blob by any operation of the SDK that takes conditions and metadata, unless a larger token has written or
   * deleted it: then rejects with a `LeaseLostError`. `write` is called again where another write came in between.
   * Otherwise the errors of `write` pass through unchanged, and the fence has not moved. Failures of the guard's own
   * requests, and the service's refusal because somebody has leased the blob, are typed errors without the request. `signal` is the time limit: without one, the service is waited for.
   *
   * `delete` and `deleteIfExists` of the client that `write` gets leave an empty blob, as {@link AzureBlobGuard.delete}.
   */
  async write<T>(
    blobName: string,
    fencingToken: bigint,
    write: (blob: BlockBlobClient, fenced: FencedWrite) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    checkFencingToken(fencingToken, { leaseName: blobName, store: 'azure-blob' })
    const limit = signal === undefined ? {} : { abortSignal: signal }
    for (let round = 0; round < ROUNDS; round += 1) {
      const blob = this.#container.getBlockBlobClient(blobName)
      const { fenced, etag } = await compare(blob, fencingToken, limit)
      try {
        return await write(withoutDeletion(blob, fencingToken, fenced), fenced)
      } catch (error) {
        if (isLeased(error, blob)) throw failureOf(detailsOf(blobName), error)
        if (!(await isRace(error, blob, etag, limit))) throw error
      }
    }
    const message = `'${blobName}' was written by others ${ROUNDS} times in a row: try again`
    throw new LeaseUnavailableError(message, { leaseName: blobName, store: 'azure-blob' })
  }

  /**
   * Deletes the content and the metadata of a blob, unless a larger token has written or deleted it: then rejects with a
   * `LeaseLostError`. An empty blob stays, whose metadata has the fence and `leaseholddeleted`, so that an old token is
   * rejected afterwards too. To a reader it is a deleted blob. Remove it past the guard when no process with an older
   * token can run any more.
   */
  async delete(blobName: string, fencingToken: bigint, signal?: AbortSignal): Promise<void> {
    await this.write(blobName, fencingToken, (blob) => blob.delete(), signal)
  }
}

/** Has the client empty the blob, and keep its fence, where it would delete it. */
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

/** Whether the blob is leased, and the write was not under its lease: that is neither a race nor the user's own fault. */
function isLeased(error: unknown, blob: BlockBlobClient): boolean {
  return codeOf(error)?.startsWith('Lease') === true && isAbout(error, blob.url)
}

/**
 * Whether another write came in between: the service answers 412, or 409 where the blob was made, and the blob is not the
 * one that was compared. What else is 409 or 412 is an error of the user's own, as for another blob or a lease.
 */
async function isRace(
  error: unknown,
  blob: BlockBlobClient,
  etag: string | undefined,
  limit: { readonly abortSignal?: AbortSignal },
): Promise<boolean> {
  if (!isStatus(error, 412) && !isStatus(error, 409)) return false
  const found = await orMissing(() => blob.getProperties({ ...limit })).catch(() => ({ etag }))
  return found?.etag !== etag
}

/** What the write has to pass on, and the ETag of the blob whose token was compared; `undefined` where there is none. */
async function compare(
  blob: BlockBlobClient,
  fencingToken: bigint,
  limit: { readonly abortSignal?: AbortSignal },
): Promise<{ readonly fenced: FencedWrite; readonly etag: string | undefined }> {
  const token = String(fencingToken)
  const found = await propertiesOf(blob, limit)
  if (found === undefined) {
    return { fenced: { ...limit, conditions: { ifNoneMatch: '*' }, metadata: { [KEY]: token } }, etag: undefined }
  }
  const { metadata = {}, etag = '' } = found
  const [, seen] = Object.entries(metadata).find(([key]) => key.toLowerCase() === KEY) ?? []
  if (seen === undefined || toToken(seen, blob.name) <= fencingToken) {
    const others = Object.entries(metadata).filter(([key]) => ![KEY, DELETED].includes(key.toLowerCase()))
    const kept = { ...Object.fromEntries(others), [KEY]: token }
    return { fenced: { ...limit, conditions: { ifMatch: etag }, metadata: kept }, etag }
  }
  throw new LeaseLostError(
    `the fencing token ${token} for '${blob.name}' is behind ${seen}: another holds the lease now`,
    { leaseName: blob.name, store: 'azure-blob', reason: 'taken' },
  )
}

async function propertiesOf(blob: BlockBlobClient, limit: { readonly abortSignal?: AbortSignal }) {
  try {
    // A copy, for the SDK adds to the options that it is given.
    return await orMissing(() => blob.getProperties({ ...limit }))
  } catch (error) {
    throw failureOf(detailsOf(blob.name), error)
  }
}

function detailsOf(blobName: string): { operation: string; leaseName: string; store: string } {
  return { operation: 'write', leaseName: blobName, store: 'azure-blob' }
}

function toToken(text: string, blobName: string): bigint {
  if (/^\d+$/.test(text)) return BigInt(text)
  throw new LeaseConfigurationError(`the metadata '${KEY}' of '${blobName}' is no fencing token: ${text}`, {
    leaseName: blobName,
    store: 'azure-blob',
  })
}
