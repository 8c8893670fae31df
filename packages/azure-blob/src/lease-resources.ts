import type { BlobServiceClient, ContainerClient } from '@azure/storage-blob'
import { type LeaseConfigurationError, LeaseNameError, type LeaseState } from '@leasehold/core'
import { decodeLeaseName, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'
import { misconfigured } from './azure-blob-options.js'
import { LeaseResource } from './lease-resource.js'
import { isStatus } from './service-answer.js'
import { type BlobMetadata, type LeaseStatus, nameIn } from './stored-grant.js'

/** Blob names have up to 1,024 characters. The characters allowed here have no meaning in an address or a path. */
const inBlobNames: Omit<NameAlphabet, 'maxLength'> = { allows: (c) => /[A-Za-z0-9_-]/.test(c), escape: '~' }
const LONGEST_BLOB_NAME = 512

/** Container names are lower-case, and a hyphen may not follow another: hyphens are escaped as well. */
const inContainerNames: Omit<NameAlphabet, 'maxLength'> = { allows: (c) => /[a-z0-9]/.test(c), escape: 'z' }
const LONGEST_CONTAINER_NAME = 63
const containerPrefix = /^[a-z0-9]+(-[a-z0-9]+)*-?$/

/** The longest name of a blob that is the user's own, in characters. */
const LONGEST_EXACT_NAME = 1_024

/** The names that the service accepts for containers: by its general rule, and those of its special containers. */
const exactContainer = /^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$|^\$(root|web|logs)$/

/** The end of a shortened name, in characters: two escapes and a hash. See `encodeLeaseName`. */
const HASH_SUFFIX = 34

/** The space for names after the prefix, in characters, that leaves room for more than the hash. */
const LEAST_FOR_NAMES = 40

/** The largest number of blobs or containers in one answer. Larger answers would block the event loop for longer. */
const PAGE_SIZE = 500

/** A blob or a container with a lease name. */
export interface ListedResource extends LeaseStatus {
  readonly name: string
  readonly metadata: BlobMetadata
}

/** An item in a listing of the SDK. */
interface ListedItem {
  readonly name: string
  readonly metadata?: Record<string, string>
  readonly properties: { readonly leaseState?: LeaseState; readonly leaseDuration?: string }
}

/** How lease names become blobs or containers, and whether these have records. */
interface NamedResources {
  readonly names: 'escaped' | 'exact'
  readonly prefix: string | undefined
  readonly isRecorded: boolean
}

/** The blobs of a container, or the containers of an account, that stand for lease names. Two names never share one. */
export class LeaseResources {
  readonly #client: ContainerClient | BlobServiceClient
  readonly #prefix: string
  readonly #alphabet: NameAlphabet
  readonly #isExact: boolean
  readonly #isRecorded: boolean

  constructor(client: ContainerClient | BlobServiceClient, { names, prefix, isRecorded }: NamedResources) {
    const isAccount = 'getContainerClient' in client
    this.#client = client
    this.#isExact = names === 'exact'
    this.#isRecorded = isRecorded
    this.#prefix = prefix ?? (isAccount && !this.#isExact ? 'lease-' : '')
    if (this.#isExact) {
      this.#alphabet = { ...inBlobNames, maxLength: Number.POSITIVE_INFINITY }
      return
    }
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
    if ('getContainerClient' in client)
      return new LeaseResource(client.getContainerClient(name), undefined, this.#isRecorded)
    return new LeaseResource(client, name, this.#isRecorded)
  }

  /** Yields the blobs or containers whose lease names have this prefix. Some of them may have no lease. */
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
      const rest = name.slice(this.#prefix.length)
      const isOwn = !this.#isExact && written !== undefined && this.#nameOf(written) === name
      // Earlier versions wrote no name, and copies have the name of another blob.
      const decoded = this.#isExact ? rest : decodeLeaseName(rest, this.#alphabet)
      const leaseName = isOwn ? written : decoded
      if (leaseName?.startsWith(leasePrefix) !== true) continue
      const { leaseState: state = 'available', leaseDuration } = properties
      const infinite = leaseDuration === 'infinite'
      yield { name: leaseName, metadata: this.#isRecorded ? metadata : {}, state, infinite }
    }
  }

  #nameOf(leaseName: string): string {
    if (this.#isExact) return exactName(this.#prefix, leaseName, 'getContainerClient' in this.#client)
    return this.#prefix + encodeLeaseName(leaseName, this.#alphabet)
  }

  /** Returns the start of the blob or container names whose lease names have this prefix. */
  #listPrefix(leasePrefix: string): string {
    // The prefix may end with half a surrogate pair, which has no UTF-8 to search for.
    if (!leasePrefix.isWellFormed()) return this.#prefix
    if (this.#isExact) return this.#prefix + leasePrefix
    const encoded = encodeLeaseName(leasePrefix, { ...this.#alphabet, maxLength: Number.POSITIVE_INFINITY })
    return this.#prefix + encoded.slice(0, this.#alphabet.maxLength - HASH_SUFFIX)
  }
}

function invalid(prefix: string, reason: string): LeaseConfigurationError {
  return misconfigured(`the prefix '${prefix}' is invalid: ${reason}`)
}

/**
 * The name of the user's own blob or container. Throws a `LeaseNameError` for a name that the service rejects, or that
 * stands for another one in an address: two lease names must never share a blob.
 */
function exactName(prefix: string, leaseName: string, isContainer: boolean): string {
  const name = prefix + leaseName
  const fault = isContainer ? faultOfContainer(name) : faultOfBlob(name)
  if (fault === undefined) return name
  const kind = isContainer ? 'container' : 'blob'
  throw new LeaseNameError(
    `'${name}' is not valid as the name of a ${kind}: ${fault}. Change it, or use names = escaped`,
    { leaseName, store: 'azure-blob' },
  )
}

function faultOfContainer(name: string): string | undefined {
  if (exactContainer.test(name)) return undefined
  return 'it must have 3 to 63 lower-case letters, digits and single hyphens'
}

function faultOfBlob(name: string): string | undefined {
  if (name.length > LONGEST_EXACT_NAME) return `it has more than ${LONGEST_EXACT_NAME} characters`
  if (/[\p{Cc}\\]/u.test(name)) return 'it has a backslash or a control character'
  if (name.split('/').some((part) => part === '.' || part === '..')) return "a part of it is '.' or '..'"
  return /[./]$/.test(name) ? 'it ends with a dot or a slash' : undefined
}
