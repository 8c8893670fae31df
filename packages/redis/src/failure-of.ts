import { LeaseConfigurationError, LeaseError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { isUnconnected, listingText, networkMessage } from '@leasehold/core/store-kit'

const PERMISSIONS =
  'the user needs +evalsha +eval +subscribe +publish +hget +hlen +hmget +hgetall +hset +hdel +pexpireat +persist +time ' +
  '+scan (in a cluster also +cluster|slots and +asking, behind Sentinel +info, with Valkey GLIDE +info and in a cluster ' +
  '+ping), and the keys and channels that begin with the prefix'

/** A member of a quorum that has lost its data gives no fencing token before it has learned the floor of the others. */
export class NoFloorError extends LeaseUnavailableError {}

/** A key with the prefix of the store that is not the key of a lease. */
export class ForeignKeyError extends LeaseConfigurationError {}

/** The typed error for a failed operation. Its message names the operation and has the message of the server or client. */
export function failureOf(operation: string, leaseName: string, error: unknown): LeaseError {
  if (error instanceof LeaseError) return error
  const asked = operation === 'probe' ? 'the check of the server before the first claim' : operation
  return failureIn(`${asked} of lease '${leaseName}'`, { leaseName, store: 'redis' }, error)
}

/** As `failureOf`, for a listing of the leases whose names begin with the prefix. */
export function listingFailureOf(prefix: string, error: unknown): LeaseError {
  if (error instanceof LeaseError) return error
  return failureIn(listingText(prefix), { store: 'redis' }, error)
}

function failureIn(action: string, about: LeaseErrorDetails, error: unknown): LeaseError {
  const message = networkMessage(error)
  const details: LeaseErrorDetails = { ...about, cause: withoutCommand(error) }
  const failed = `${action} failed: ${message}`
  if (isDenied(message)) return new LeaseUnauthorisedError(`${failed}: ${PERMISSIONS}`, details)
  if (/^(NOAUTH|WRONGPASS)\b|invalid password|Client sent AUTH/.test(message)) {
    return new LeaseUnauthorisedError(`${failed}: check the username and the password`, details)
  }
  const [, oldKey] = /OLDLOCK (.*) is no string/s.exec(message) ?? []
  if (oldKey !== undefined) {
    return new LeaseConfigurationError(
      `${action} failed: the key '${oldKey}' of compat holds other data than a lock: correct the key`,
      details,
    )
  }
  if (/\bWRONGTYPE\b|NOLEASE/.test(message)) {
    return new ForeignKeyError(
      `${failed}: the key of the lease holds other data: give the store a prefix of its own, or delete the key`,
      details,
    )
  }
  if (message.startsWith('NOFLOOR')) return new NoFloorError(failed, details)
  if (/\bNOSUCHCMD\b|unknown command/i.test(message)) {
    return new LeaseConfigurationError(`${failed}: the server must be Redis 5 or later, or Valkey`, details)
  }
  const advice = isUnconnected(error) ? ': check the URL, and whether Redis runs there' : ''
  return new LeaseUnavailableError(`${failed}${advice}`, details)
}

/** Whether the server denies an operation to the user. For commands of a script, the message differs. */
export function isDenied(message: string): boolean {
  return /NOPERM|The user executing the script can|ACL failure in script/.test(message)
}

/** Clients put the command into their errors, and it may be the one with the password. */
function withoutCommand(error: unknown): unknown {
  if (error instanceof Error && 'command' in error) Reflect.deleteProperty(error, 'command')
  return error
}
