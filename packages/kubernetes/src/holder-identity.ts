const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The owner, and by which of its acquisitions it holds the lease. */
export interface HolderIdentity {
  readonly owner: string
  readonly grantId: string
}

/**
 * What stands for a holder in the cluster: the owner and the grant id, as client-go's `hostname_uuid`. A new grant is a
 * new identity, also of an owner that was restarted under the same name, so that nobody takes an old record for its own.
 */
export function toIdentity({ owner, grantId }: HolderIdentity): string {
  return `${owner}_${grantId}`
}

/**
 * Whom an identity stands for; of one that is not made so, all of it is both. `grantId`: what our annotation says that
 * it ends in, where there is one.
 */
export function fromIdentity(identity: string, grantId: string | undefined): HolderIdentity {
  const split = identity.lastIndexOf('_')
  if (grantId !== undefined && identity.endsWith(`_${grantId}`)) {
    return { owner: identity.slice(0, -grantId.length - 1), grantId }
  }
  const ending = identity.slice(split + 1)
  if (split > 0 && GUID.test(ending)) return { owner: identity.slice(0, split), grantId: ending }
  return { owner: identity, grantId: identity }
}
