import { LeaseError, type LeaseErrorDetails } from './lease-error.js'
import type { LeaseLost, LeaseLostReason } from './lease-lost.js'
import { shownText } from './shown-value.js'

/** The lease is no longer held. Stop acting on the resource. */
export class LeaseLostError extends LeaseError {
  override readonly name = 'LeaseLostError'
  override readonly code = 'lost'
  /** Why the grant ended. `released`: its owner released it, or handed it off, while a `run` was in progress. */
  readonly reason: LeaseLostReason | 'released'
  /** As in `LeaseLost`. */
  readonly lockedUntil: number | undefined

  constructor(
    message: string,
    details: LeaseErrorDetails & {
      readonly reason: LeaseLostReason | 'released'
      readonly lockedUntil?: number | undefined
    },
  ) {
    super(message, details)
    this.reason = details.reason
    this.lockedUntil = details.lockedUntil
  }
}

function describeLoss(name: string, { reason, owner }: Pick<LeaseLost, 'owner'> & { reason: string }): string {
  const by = owner === undefined || owner === '' ? '' : ` (held by '${shownText(owner)}' now)`
  return `lease '${name}' was lost: ${reason}${by}`
}

export function lossError(
  lost: LeaseLost,
  details: LeaseErrorDetails & { readonly leaseName: string },
): LeaseLostError {
  const { reason, cause, lockedUntil } = lost
  return new LeaseLostError(describeLoss(details.leaseName, lost), { ...details, reason, cause, lockedUntil })
}
