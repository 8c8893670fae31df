import { encodeLeaseName } from '@leasehold/core/store'
import type { KubernetesObject } from './kubernetes-object.js'

/** The annotation with the lease name, on an object whose name is an encoded form of it. */
const NAME = 'leasehold.dev/name'

/** RFC 1123 subdomain: labels of lower-case letters, digits and dashes, separated by dots. */
const SUBDOMAIN = /^[a-z\d](?:[-a-z\d]*[a-z\d])?(?:\.[a-z\d](?:[-a-z\d]*[a-z\d])?)*$/

const LONGEST = 253

/** The prefix of encoded names. */
const ENCODED = 'leasehold--'

/**
 * The name of the object that holds a lease: the lease name itself if it is an RFC 1123 subdomain, so that other programs
 * find it; otherwise an encoded form that no plain name has. Injective.
 */
export function objectName(leaseName: string): string {
  const isPlain = leaseName.length <= LONGEST && SUBDOMAIN.test(leaseName) && !leaseName.startsWith(ENCODED)
  if (isPlain) return leaseName
  const allows = (character: string): boolean => /[a-z\d]/.test(character)
  return ENCODED + encodeLeaseName(leaseName, { allows, escape: '-', maxLength: LONGEST - ENCODED.length })
}

/** The annotation that {@link leaseNameOf} reads; none where the name of the object is the lease name. */
export function nameAnnotation(leaseName: string): Record<string, string> {
  return objectName(leaseName) === leaseName ? {} : { [NAME]: leaseName }
}

/** The lease name of an object; `undefined` if its name is encoded and the annotation is missing or was changed. */
export function leaseNameOf({ metadata: { name, annotations } }: KubernetesObject): string | undefined {
  const leaseName = annotations?.[NAME] ?? name
  return objectName(leaseName) === name ? leaseName : undefined
}
