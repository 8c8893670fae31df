import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { LeaseHeldError } from '../errors/lease-held-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'

type Details = LeaseErrorDetails & { readonly leaseName: string; readonly owner: string }

/** `run` was called by the work of the same lease: the inner run would wait for the outer one, and the outer for it. */
export function nestedRun(details: Details): LeaseConflictError {
  return new LeaseConflictError(
    `run of lease '${details.leaseName}' was called inside its own work, which holds the lease already: do the work there, ` +
      'or use a lease of another name',
    details,
  )
}

/** Another run of the same lease object did not end in time. */
export function overlappingRun(details: Details): LeaseHeldError {
  return new LeaseHeldError(
    `lease '${details.leaseName}' is held by another run of this same object (owner '${details.owner}'): raise wait, or try later`,
    { ...details, holder: details.owner },
  )
}

/** The owner released or handed off the lease while a run was in progress. */
export function releasedDuringRun(details: Details): LeaseLostError {
  return new LeaseLostError(`lease '${details.leaseName}' was released while a run was in progress`, {
    ...details,
    reason: 'released',
  })
}
