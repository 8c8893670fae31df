import { decodeLeaseName, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'
import type { KubernetesObject } from './kubernetes-object.js'

/** The annotation with the lease name, on an object whose name is an encoded form of it. */
const NAME = 'leasehold.dev/name'

/** RFC 1123 subdomain: labels of lower-case letters, digits and dashes, separated by dots. */
const SUBDOMAIN = /^[a-z\d](?:[-a-z\d]*[a-z\d])?(?:\.[a-z\d](?:[-a-z\d]*[a-z\d])?)*$/

const LONGEST = 253

/** The prefix of encoded names. */
const ENCODED = 'leasehold--'

const alphabet: NameAlphabet = {
  allows: (character) => /[a-z\d]/.test(character),
  escape: '-',
  maxLength: LONGEST - ENCODED.length,
}

/**
 * The name of the object that holds a lease: the lease name itself if it is an RFC 1123 subdomain, so that other programs
 * find it; otherwise an encoded form that no plain name has. Injective.
 */
export function objectName(leaseName: string): string {
  const isPlain = leaseName.length <= LONGEST && SUBDOMAIN.test(leaseName) && !leaseName.startsWith(ENCODED)
  return isPlain ? leaseName : ENCODED + encodeLeaseName(leaseName, alphabet)
}

/** The annotation that {@link leaseNameOf} reads; none where the name of the object is the lease name. */
export function nameAnnotation(leaseName: string): Record<string, string> {
  return objectName(leaseName) === leaseName ? {} : { [NAME]: leaseName }
}

/**
 * The lease name of an object; `undefined` if the annotation was changed, or is missing and the name of the object is a
 * shortened one. Earlier versions wrote no annotation.
 */
export function leaseNameOf({ metadata: { name, annotations } }: KubernetesObject): string | undefined {
  const isEncoded = name.startsWith(ENCODED)
  const leaseName = annotations?.[NAME] ?? (isEncoded ? decodeLeaseName(name.slice(ENCODED.length), alphabet) : name)
  return leaseName !== undefined && objectName(leaseName) === name ? leaseName : undefined
}
