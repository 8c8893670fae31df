import {
  LeaseConfigurationError,
  LeaseError,
  type LeaseErrorDetails,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'

/** The typed error for whatever a call ended with; what it was about is said beside what the server or the client said. */
export function failureOf(operation: string, leaseName: string, error: unknown): LeaseError {
  if (error instanceof LeaseError) return error
  const said = error instanceof Error ? error.message : String(error)
  const details: LeaseErrorDetails = { leaseName, store: 'redis', cause: withoutCommand(error) }
  const failed = `${operation} of lease '${leaseName}' failed: ${said}`
  if (/^(NOAUTH|WRONGPASS|NOPERM)\b|\bNOPERM\b|invalid password|Client sent AUTH/.test(said)) {
    return new LeaseUnauthorisedError(`${failed}: ${adviceOn(said)}`, details)
  }
  if (/^WRONGTYPE\b|\bWRONGTYPE\b|NOLEASE/.test(said)) {
    return new LeaseConfigurationError(
      `${failed}: the key of the lease holds something else: give the store a prefix of its own, or delete the key`,
      details,
    )
  }
  if (/\bNOSUCHCMD\b|unknown command/i.test(said)) {
    return new LeaseConfigurationError(`${failed}: the server has to be Redis 5 or later, or Valkey`, details)
  }
  return new LeaseUnavailableError(failed, details)
}

function adviceOn(said: string): string {
  return said.includes('NOPERM')
    ? 'the user needs +evalsha +eval +subscribe +publish +hget +hmget +hset +hdel +pexpire +persist +time, the keys of ' +
        'the prefix and the channels that begin with it'
    : 'check the username and the password'
}

/** Clients add the command that failed to their errors: AUTH with its password among them. */
function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const cause: Error & { code?: unknown } = new Error(error.message)
  cause.name = error.name
  const { code } = error as { code?: unknown }
  if (code !== undefined) cause.code = code
  return cause
}
