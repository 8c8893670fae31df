import { reasonOf, shownLines } from '../errors/shown-value.js'
import { callGuarded } from './guarded-calls.js'

/** Where the library reports to; `console`, pino and winston fit as they are. */
export interface Logger {
  debug(message: string, details?: unknown): void
  info(message: string, details?: unknown): void
  warn(message: string, details?: unknown): void
  error(message: string, details?: unknown): void
}

/**
 * The logger used where none is given: warnings and errors become process warnings of the type `LeaseholdWarning`
 * (printed once by Node, caught by `process.on('warning')`), so that nothing is lost silently; the rest is dropped.
 */
export const defaultLogger: Logger = {
  debug() {},
  info() {},
  warn: warnProcess,
  error: warnProcess,
}

/** Logs a message with its control characters escaped. If the user's logger fails, a process warning has the message. */
export function logSafely(logger: Logger, level: keyof Logger, message: string, details?: unknown): void {
  const shown = shownLines(message)
  callGuarded(
    () => logger[level](shown, details),
    (error) => warnProcess(`${shown} (the logger failed: ${reasonOf(error)})`, details),
  )
}

function warnProcess(message: string, details?: unknown): void {
  process.emitWarning(message, {
    type: 'LeaseholdWarning',
    ...(details === undefined ? {} : { detail: shownLines(textOf(details)) }),
  })
}

/** The stack of an error, or the text of anything else. An error of the user may throw while it is read. */
function textOf(details: unknown): string {
  try {
    if (details instanceof Error) return String(details.stack ?? details.message)
  } catch {}
  return reasonOf(details)
}
