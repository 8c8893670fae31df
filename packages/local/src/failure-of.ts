import { LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { misconfiguredFor } from '@leasehold/core/store-kit'

export const misconfigured = misconfiguredFor('local')

const permissions: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS'])
const paths: ReadonlySet<unknown> = new Set(['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'])

/** The typed error for an error of the file system. */
export function failureOf(error: unknown, path: string): LeaseError {
  if (error instanceof LeaseError) return error
  const details = { store: 'local', cause: error }
  const reason = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (permissions.has(code)) {
    return new LeaseUnauthorisedError(
      `this user may not write to ${path} (${reason}): give it the permission, or, for several users, let the first ` +
        'one make the folder with a mode such as 0o770',
      details,
    )
  }
  if (paths.has(code)) {
    return misconfigured(`${path} cannot be used (${reason}): choose another folder`, error)
  }
  return new LeaseUnavailableError(`the lease database in ${path} failed: ${reason}`, details)
}
