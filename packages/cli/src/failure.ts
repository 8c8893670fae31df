import { LeaseError, type LeaseErrorCode } from '@leasehold/core'
import { type ExitCode, exitCodes } from './exit-codes.js'
import { UsageError } from './usage-error.js'

/** An error, as the command line reports it. */
export interface Failure {
  readonly message: string
  readonly exitCode: ExitCode
}

const codes: Readonly<Record<LeaseErrorCode, ExitCode>> = {
  held: exitCodes.notAcquired,
  timeout: exitCodes.unreachable,
  unavailable: exitCodes.unreachable,
  unauthorised: exitCodes.unauthorised,
  lost: exitCodes.lost,
  conflict: exitCodes.no,
  configuration: exitCodes.configuration,
  name: exitCodes.usage,
}

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof UsageError) return { message, exitCode: exitCodes.usage }
  if (error instanceof LeaseError) return { message, exitCode: codes[error.code] }
  // An error of a configuration file: of another package, whose class need not be loaded to recognise it.
  if (error instanceof Error && /^Config\w*Error$/.test(error.name))
    return { message, exitCode: exitCodes.configuration }
  const stack = error instanceof Error ? error.stack : undefined
  return { message: stack ?? message, exitCode: exitCodes.internal }
}
