import type { Grant } from '@leasehold/core'

const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** An owner and one of its acquisitions. */
type HolderIdentity = Pick<Grant, 'owner' | 'grantId'>

/**
 * The identity of a holder in the cluster: owner and grant id, in the form of client-go's `hostname_uuid`. Every grant has
 * its own identity, so that an owner that restarts under the same name does not mistake an old record for its own.
 */
export function toIdentity({ owner, grantId }: HolderIdentity): string {
  return `${owner}_${grantId}`
}

/**
 * The owner and grant id in an identity. An identity of another form is both owner and grant id. `grantId`: the id in our
 * annotation, if there is one.
 */
export function fromIdentity(identity: string, grantId: string | undefined): HolderIdentity {
  if (grantId !== undefined && identity.endsWith(`_${grantId}`)) {
    return { owner: identity.slice(0, -grantId.length - 1), grantId }
  }
  const split = identity.lastIndexOf('_')
  const ending = identity.slice(split + 1)
  if (split > 0 && GUID.test(ending)) return { owner: identity.slice(0, split), grantId: ending }
  return { owner: identity, grantId: identity }
}
