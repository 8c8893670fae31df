import { LeaseConfigurationError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { networkMessage } from '@leasehold/core/store-kit'
import { isRefusal } from './api-error.js'

/** What was asked for, in an error. */
export interface Asked {
  /** Such as `the read`. */
  readonly operation: string
  /** Absent for a listing. */
  readonly leaseName?: string
}

/** The typed error for a failed request. */
export function failureOf({ operation, leaseName }: Asked, error: unknown, bucket: string): LeaseError {
  if (error instanceof LeaseError) return error
  const details = { ...(leaseName === undefined ? {} : { leaseName }), store: 'nats', cause: error }
  const failed = `${operation}${leaseName === undefined ? '' : ` of lease '${leaseName}'`} failed: ${networkMessage(error)}`
  const names = namesOf(error)
  if (names.includes('PermissionViolationError')) {
    return new LeaseUnauthorisedError(
      `${failed}: the guide of this store lists the subjects that a user needs`,
      details,
    )
  }
  // A busy server ends a connection whose credentials did not come in time: they may be right.
  const isLate = /authentication timeout/i.test(networkMessage(error))
  if (!isLate && names.some((name) => /^(AuthorizationError|UserAuthenticationExpiredError)$/.test(name))) {
    return new LeaseUnauthorisedError(
      `${failed}: check the user and the password, the token or the credentials`,
      details,
    )
  }
  if (isRefusal(error, 'streamMissing')) return new LeaseConfigurationError(missing(bucket), details)
  if (isRefusal(error, 'notEnabled', 'notEnabledForAccount')) {
    return new LeaseConfigurationError(`${failed}: turn JetStream on, for the server and the account`, details)
  }
  if (isRefusal(error, 'tooLarge')) {
    return new LeaseConfigurationError(`${failed}: let the bucket '${bucket}' have larger values`, details)
  }
  if (names.includes('NoResponders')) {
    return new LeaseUnavailableError(
      `${failed}: the bucket '${bucket}' has no leader now, or JetStream is not enabled for this account or domain`,
      details,
    )
  }
  return new LeaseUnavailableError(failed, details)
}

/** The command that makes the bucket. */
function missing(bucket: string): string {
  return `the bucket '${bucket}' does not exist: make it with 'nats kv add ${bucket} --replicas=3' (1 without a cluster)`
}

/** The library wraps the error of a request in others. */
function namesOf(error: unknown): readonly string[] {
  const names: string[] = []
  for (let cause = error; cause instanceof Error && names.length < 5; cause = cause.cause) names.push(cause.name)
  return names
}

/** Whether nobody listened to the request: it had no effect. */
export function isUnheard(error: unknown): boolean {
  return namesOf(error).includes('NoResponders')
}
