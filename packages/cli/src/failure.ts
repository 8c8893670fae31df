import { LeaseError, type LeaseErrorCode } from '@leasehold/core'
import { shownLines, shownText } from '@leasehold/core/internal'
import { exitCodes } from './exit-codes.js'
import { WatchdogError } from './run/watchdog-link.js'
import { UsageError } from './usage-error.js'

const codes: Readonly<Record<LeaseErrorCode, number>> = {
  held: exitCodes.notAcquired,
  timeout: exitCodes.unreachable,
  unavailable: exitCodes.unreachable,
  unauthorised: exitCodes.unauthorised,
  lost: exitCodes.lost,
  conflict: exitCodes.no,
  configuration: exitCodes.configuration,
  name: exitCodes.usage,
  unfit: exitCodes.configuration,
}

/** The text that the command line shows for an error, without control characters of others, and its exit code. */
export function failureOf(error: unknown): { readonly message: string; readonly exitCode: number } {
  const message = shownText(error instanceof Error ? error.message : String(error))
  if (error instanceof UsageError) return { message, exitCode: exitCodes.usage }
  if (error instanceof WatchdogError) return { message, exitCode: exitCodes.system }
  if (error instanceof LeaseError) return { message: inCommands(message), exitCode: codes[error.code] }
  if (error instanceof Error && error.name === 'RecordingError') return { message, exitCode: exitCodes.unreadable }
  // An error of a configuration file: of another package, whose class need not be loaded to recognise it.
  if (error instanceof Error && /^Config\w*Error$/.test(error.name))
    return { message: shownLines(error.message), exitCode: exitCodes.configuration }
  const stack = error instanceof Error ? error.stack : undefined
  return { message: stack === undefined ? message : shownLines(stack), exitCode: exitCodes.internal }
}

/** Rewords advice for the shell: the errors of providers speak to programmers. */
function inCommands(message: string): string {
  return message.replace(/call migrate\(\) of @leasehold\/[\w-]+/, "run 'leasehold migrate' with the same store")
}
