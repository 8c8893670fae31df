import { LeaseNameError } from '@leasehold/core'

const LONGEST_BLOB_NAME = 1_024

/** The service's rule for containers, and its containers with names of their own. */
const containerName = /^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$|^\$(root|web|logs)$/

/**
 * The name of the user's own blob or container. Throws a `LeaseNameError` for a name that the service rejects, or that
 * stands for another one in an address: two lease names must never share a blob.
 */
export function exactName(prefix: string, leaseName: string, isContainer: boolean): string {
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
  if (containerName.test(name)) return undefined
  return 'it must have 3 to 63 lower-case letters, digits and single hyphens'
}

function faultOfBlob(name: string): string | undefined {
  if (name.length > LONGEST_BLOB_NAME) return `it has more than ${LONGEST_BLOB_NAME} characters`
  if (/[\p{Cc}\\]/u.test(name)) return 'it has a backslash or a control character'
  if (name.split('/').some((part) => part === '.' || part === '..')) return "a part of it is '.' or '..'"
  return /[./]$/.test(name) ? 'it ends with a dot or a slash' : undefined
}
