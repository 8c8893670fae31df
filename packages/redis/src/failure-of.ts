import {
  LeaseConfigurationError,
  LeaseError,
  type LeaseErrorDetails,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'

/** A member of a quorum that has lost its data gives no fencing token before it has learned the floor of the others. */
export class NoFloorError extends LeaseUnavailableError {}

/** The typed error for whatever a call ended with; what it was about is said beside what the server or the client said. */
export function failureOf(operation: string, leaseName: string, error: unknown): LeaseError {
  if (error instanceof LeaseError) return error
  const said = error instanceof Error ? error.message : String(error)
  const details: LeaseErrorDetails = { leaseName, store: 'redis', cause: withoutCommand(error) }
  const failed = `${operation} of lease '${leaseName}' failed: ${said}`
  if (isDenied(said) || /^(NOAUTH|WRONGPASS)\b|invalid password|Client sent AUTH/.test(said)) {
    return new LeaseUnauthorisedError(`${failed}: ${adviceOn(said)}`, details)
  }
  if (/^WRONGTYPE\b|\bWRONGTYPE\b|NOLEASE/.test(said)) {
    return new LeaseConfigurationError(
      `${failed}: the key of the lease holds something else: give the store a prefix of its own, or delete the key`,
      details,
    )
  }
  if (said.startsWith('NOFLOOR')) return new NoFloorError(failed, details)
  if (/\bNOSUCHCMD\b|unknown command/i.test(said)) {
    return new LeaseConfigurationError(`${failed}: the server has to be Redis 5 or later, or Valkey`, details)
  }
  return new LeaseUnavailableError(failed, details)
}

function adviceOn(said: string): string {
  return isDenied(said)
    ? 'the user needs +evalsha +eval +subscribe +publish +hget +hlen +hmget +hgetall +hset +hdel +pexpireat +persist ' +
        '+time (in a cluster +cluster|slots and +asking too, behind Sentinel +info), the keys of the prefix and the channels that begin with it'
    : 'check the username and the password'
}

/** Whether the server denies an operation to the user; of what a script does, it says so in other words. */
export function isDenied(said: string): boolean {
  return said.includes('NOPERM') || said.includes('The user executing the script can')
}

/** A client puts the command into its error: that may be the one with the password. */
function withoutCommand(error: unknown): unknown {
  if (error instanceof Error && 'command' in error) Reflect.deleteProperty(error, 'command')
  return error
}
