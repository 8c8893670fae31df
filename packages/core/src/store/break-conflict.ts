import { LeaseConflictError } from '../errors/lease-conflict-error.js'

/** The error for a break of a grant that is not the last one of its name. */
export function anotherGrant(name: string, store: string): LeaseConflictError {
  return new LeaseConflictError(
    `'${name}' has another grant than the one to break: nothing was changed. Read the record and decide again`,
    { leaseName: name, store },
  )
}

/** The error for a break of a name that has no holder. */
export function nothingToBreak(name: string, store: string): LeaseConflictError {
  return new LeaseConflictError(`'${name}' has no holder: there is nothing to break`, { leaseName: name, store })
}
