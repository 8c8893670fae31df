import { encodeLeaseName } from '@leasehold/core'

/** What the API takes for the name of a Lease: labels of lower-case letters, digits and dashes, with dots between. */
const SUBDOMAIN = /^[a-z\d](?:[-a-z\d]*[a-z\d])?(?:\.[a-z\d](?:[-a-z\d]*[a-z\d])?)*$/

const LONGEST = 253

/** What begins the name of an object whose lease name is no name for an object. */
const ENCODED = 'leasehold--'

/**
 * The name of the object that holds a lease: the lease name itself where it is an RFC 1123 subdomain, as the names that
 * other programs use are; else an encoded form that no such name has. Injective.
 */
export function objectName(leaseName: string): string {
  const isPlain = leaseName.length <= LONGEST && SUBDOMAIN.test(leaseName) && !leaseName.startsWith(ENCODED)
  if (isPlain) return leaseName
  const allows = (character: string): boolean => /[a-z\d]/.test(character)
  return ENCODED + encodeLeaseName(leaseName, { allows, escape: '-', maxLength: LONGEST - ENCODED.length })
}
