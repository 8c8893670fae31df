import type { BlobServiceClient, ContainerClient } from '@azure/storage-blob'
import { LeaseConfigurationError, type LeaseState } from '@leasehold/core'
import { decodeLeaseName, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store'
import { LeaseResource } from './lease-resource.js'
import { isStatus } from './service-answer.js'
import { type BlobMetadata, nameIn } from './stored-grant.js'

/** Blob names have up to 1,024 characters; none of these has a meaning in an address or a path. */
const inBlobNames: Omit<NameAlphabet, 'maxLength'> = { allows: (c) => /[A-Za-z0-9_-]/.test(c), escape: '~' }
const LONGEST_BLOB_NAME = 512

/** Container names are lower-case, and a hyphen may not follow another: hyphens are escaped as well. */
const inContainerNames: Omit<NameAlphabet, 'maxLength'> = { allows: (c) => /[a-z0-9]/.test(c), escape: 'z' }
const LONGEST_CONTAINER_NAME = 63
const containerPrefix = /^[a-z0-9]+(-[a-z0-9]+)*-?$/

/** The end of a shortened name, in characters: two escapes and a hash. See `encodeLeaseName`. */
const HASH_SUFFIX = 34

/** The space for names after the prefix, in characters, that leaves room for more than the hash. */
const LEAST_FOR_NAMES = 40

/** The largest number of blobs or containers in one answer. Larger answers would block the event loop for longer. */
const PAGE_SIZE = 500

/** A blob or a container with a lease name. */
export interface ListedResource {
  readonly name: string
  readonly state: LeaseState
  readonly metadata: BlobMetadata
}

/** An item in a listing of the SDK. */
interface ListedItem {
  readonly name: string
  readonly metadata?: Record<string, string>
  readonly properties: { readonly leaseState?: LeaseState }
}

/** The blobs of a container, or the containers of an account, that stand for lease names. Two names never share one. */
export class LeaseResources {
  readonly #client: ContainerClient | BlobServiceClient
  readonly #prefix: string
  readonly #alphabet: NameAlphabet

  constructor(client: ContainerClient | BlobServiceClient, prefix: string | undefined) {
    const isAccount = 'getContainerClient' in client
    this.#client = client
    this.#prefix = prefix ?? (isAccount ? 'lease-' : '')
    if (isAccount && !containerPrefix.test(this.#prefix)) {
      throw invalid(this.#prefix, "container names have lower-case letters, digits and single hyphens, as in 'lease-'")
    }
    const [longest, rest] = isAccount
      ? [LONGEST_CONTAINER_NAME, inContainerNames]
      : ([LONGEST_BLOB_NAME, inBlobNames] as const)
    const maxLength = longest - this.#prefix.length
    this.#alphabet = { ...rest, maxLength }
    if (maxLength < LEAST_FOR_NAMES) {
      throw invalid(this.#prefix, `it may have at most ${longest - LEAST_FOR_NAMES} characters`)
    }
  }

  of(leaseName: string): LeaseResource {
    const client = this.#client
    const name = this.#nameOf(leaseName)
    if ('getContainerClient' in client) return new LeaseResource(client.getContainerClient(name))
    return new LeaseResource(client, name)
  }

  /** Yields what has a lease name with this prefix. Blobs and containers that have no lease may be among them. */
  async *list(leasePrefix: string, abortSignal: AbortSignal): AsyncGenerator<ListedResource> {
    const client = this.#client
    const options = { prefix: this.#listPrefix(leasePrefix), includeMetadata: true, abortSignal }
    try {
      if ('getContainerClient' in client) {
        for await (const { containerItems } of client.listContainers(options).byPage({ maxPageSize: PAGE_SIZE })) {
          yield* this.#named(containerItems, leasePrefix)
        }
      } else {
        for await (const { segment } of client.listBlobsFlat(options).byPage({ maxPageSize: PAGE_SIZE })) {
          yield* this.#named(segment.blobItems, leasePrefix)
        }
      }
    } catch (error) {
      // A missing container has no leases.
      if (!isStatus(error, 404)) throw error
    }
  }

  *#named(items: readonly ListedItem[], leasePrefix: string): Generator<ListedResource> {
    for (const { name, metadata = {}, properties } of items) {
      const written = nameIn(metadata)
      const isOwn = written !== undefined && this.#nameOf(written) === name
      // Earlier versions wrote no name, and copies have the name of another blob.
      const leaseName = isOwn ? written : decodeLeaseName(name.slice(this.#prefix.length), this.#alphabet)
      if (leaseName?.startsWith(leasePrefix) !== true) continue
      yield { name: leaseName, metadata, state: properties.leaseState ?? 'available' }
    }
  }

  #nameOf(leaseName: string): string {
    return this.#prefix + encodeLeaseName(leaseName, this.#alphabet)
  }

  /** The start of the names that belong to a prefix of lease names. */
  #listPrefix(leasePrefix: string): string {
    // Half a surrogate pair at its end has no UTF-8 to look for.
    if (!leasePrefix.isWellFormed()) return this.#prefix
    const encoded = encodeLeaseName(leasePrefix, { ...this.#alphabet, maxLength: Number.POSITIVE_INFINITY })
    return this.#prefix + encoded.slice(0, this.#alphabet.maxLength - HASH_SUFFIX)
  }
}

function invalid(prefix: string, reason: string): LeaseConfigurationError {
  return new LeaseConfigurationError(`the prefix '${prefix}' is invalid: ${reason}`, { store: 'azure-blob' })
}
