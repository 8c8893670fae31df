import type { BlobRequestConditions, BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { LeaseConfigurationError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { failureOf } from './failure-of.js'
import { codeOf, isStatus, orMissing } from './service-answer.js'

/** How often a write that lost a race against another is begun anew. */
const ROUNDS = 5

/** Where a blob keeps the largest token that wrote it. */
const KEY = 'leaseholdfence'

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
 * nothing over what its successor has written. All who write the blob have to do so through a guard.
 */
export class AzureBlobGuard {
  readonly #container: ContainerClient

  /** The container of the blobs, by a client of the caller's own. */
  constructor(container: ContainerClient) {
    this.#container = container
  }

  /**
   * Writes a blob by any operation of the SDK that takes conditions and metadata, unless a larger token has written it:
   * then rejects with a `LeaseLostError`. `write` is called again where another write came in between; what it rejects
   * with is a typed error, without the request. `signal` is the time limit: without one, the service is waited for.
   */
  async write<T>(
    blobName: string,
    fencingToken: bigint,
    write: (blob: BlockBlobClient, fenced: FencedWrite) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    if (typeof fencingToken !== 'bigint' || fencingToken < 0n) {
      throw new LeaseConfigurationError(`fencingToken must be a bigint of 0 or more, not ${String(fencingToken)}`)
    }
    const blob = this.#container.getBlockBlobClient(blobName)
    for (let round = 0; round < ROUNDS; round += 1) {
      try {
        const limit = signal === undefined ? {} : { abortSignal: signal }
        return await write(blob, { ...limit, ...(await compare(blob, fencingToken, limit)) })
      } catch (error) {
        if (isRace(error)) continue
        throw failureOf({ operation: 'write', leaseName: blobName, store: 'azure-blob' }, error)
      }
    }
    const message = `'${blobName}' was written by others ${ROUNDS} times in a row: try again`
    throw new LeaseUnavailableError(message, { leaseName: blobName, store: 'azure-blob' })
  }
}

/** Whether another write came in between; 409 where the blob was made. A lease that somebody has on it is no write. */
function isRace(error: unknown): boolean {
  return (isStatus(error, 412) || isStatus(error, 409)) && codeOf(error)?.startsWith('Lease') !== true
}

async function compare(
  blob: BlockBlobClient,
  fencingToken: bigint,
  limit: { readonly abortSignal?: AbortSignal },
): Promise<FencedWrite> {
  const token = String(fencingToken)
  // A copy, for the SDK adds to the options that it is given.
  const found = await orMissing(() => blob.getProperties({ ...limit }))
  if (found === undefined) return { conditions: { ifNoneMatch: '*' }, metadata: { [KEY]: token } }
  const { metadata = {}, etag = '' } = found
  const [, seen] = Object.entries(metadata).find(([key]) => key.toLowerCase() === KEY) ?? []
  if (seen === undefined || toToken(seen, blob.name) <= fencingToken) {
    const others = Object.entries(metadata).filter(([key]) => key.toLowerCase() !== KEY)
    return { conditions: { ifMatch: etag }, metadata: { ...Object.fromEntries(others), [KEY]: token } }
  }
  throw new LeaseLostError(
    `the fencing token ${token} for '${blob.name}' is behind ${seen}: another holds the lease now`,
    { leaseName: blob.name, store: 'azure-blob', reason: 'taken' },
  )
}

function toToken(text: string, blobName: string): bigint {
  if (/^\d+$/.test(text)) return BigInt(text)
  throw new LeaseConfigurationError(`the metadata '${KEY}' of '${blobName}' is no fencing token: ${text}`, {
    leaseName: blobName,
    store: 'azure-blob',
  })
}
