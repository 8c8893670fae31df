import type { BlobServiceClient, ContainerClient } from '@azure/storage-blob'
import { encodeLeaseName, LeaseConfigurationError, type NameAlphabet } from '@leasehold/core'
import { BlobResource } from './blob-resource.js'
import { ContainerResource } from './container-resource.js'
import type { LeaseResource } from './lease-resource.js'

/** Blob names are up to 1,024 characters; of these none means anything in an address or a path. */
const inBlobNames: Omit<NameAlphabet, 'maxLength'> = { allows: (c) => /[A-Za-z0-9_-]/.test(c), escape: '~' }
const LONGEST_BLOB_NAME = 512

/** Container names are lower-case; a hyphen may not follow another, so that it is escaped as well. */
const inContainerNames: Omit<NameAlphabet, 'maxLength'> = { allows: (c) => /[a-z0-9]/.test(c), escape: 'z' }
const LONGEST_CONTAINER_NAME = 63
const containerPrefix = /^[a-z0-9]+(-[a-z0-9]+)*-?$/

/** What stands for a lease name: a blob in a container, or a container in an account. Two names never share one. */
export function resourcesIn(
  client: ContainerClient | BlobServiceClient,
  prefix: string | undefined,
): (name: string) => LeaseResource {
  if ('getContainerClient' in client) {
    const { before, alphabet } = namesWith(prefix ?? 'lease-', LONGEST_CONTAINER_NAME, inContainerNames)
    if (!containerPrefix.test(before)) {
      throw misfit(before, "names of containers have lower-case letters, digits and single hyphens, as in 'lease-'")
    }
    return (name) => new ContainerResource(client, before + encodeLeaseName(name, alphabet))
  }
  const { before, alphabet } = namesWith(prefix ?? '', LONGEST_BLOB_NAME, inBlobNames)
  return (name) => new BlobResource(client, before + encodeLeaseName(name, alphabet))
}

/** A shortened name ends in a hash of 32 characters and its mark, and should tell something beside. */
const LEAST_FOR_NAMES = 40

function namesWith(
  before: string,
  longest: number,
  rest: Omit<NameAlphabet, 'maxLength'>,
): { before: string; alphabet: NameAlphabet } {
  const maxLength = longest - before.length
  if (maxLength >= LEAST_FOR_NAMES) return { before, alphabet: { ...rest, maxLength } }
  throw misfit(before, `it may have at most ${longest - LEAST_FOR_NAMES} characters`)
}

function misfit(prefix: string, why: string): LeaseConfigurationError {
  return new LeaseConfigurationError(`the prefix '${prefix}' does not do: ${why}`, { store: 'azure-blob' })
}
