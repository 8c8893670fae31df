import { defaultLogger, type Logger } from '../logger.js'
import { reasonOf } from './shown-value.js'

/** Warns through a logger. If the logger fails, the warning becomes a process warning, and nothing else fails. */
export function warn(logger: Logger, message: string, details?: unknown): void {
  const failed = (): void =>
    defaultLogger.warn(message, details === undefined || details instanceof Error ? details : reasonOf(details))
  try {
    const returned: unknown = details === undefined ? logger.warn(message) : logger.warn(message, details)
    // An asynchronous logger: its rejection would otherwise be unhandled.
    Promise.resolve(returned).catch(failed)
  } catch {
    failed()
  }
}
