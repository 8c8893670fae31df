import { defaultLogger, type Logger } from '@leasehold/core'

/** Logs a failure in the background. A logger of the user that throws is replaced by the default one. */
export function report(logger: Logger, level: 'warn' | 'error', message: string, failure: unknown): void {
  try {
    logger[level](message, failure)
  } catch {
    defaultLogger[level](`${message} (the logger failed)`, failure)
  }
}

/** Calls user code. An error that it throws, or that its promise rejects with, is logged. */
export function callReported(logger: Logger, message: string, call: () => unknown): void {
  void (async () => await call())().catch((error: unknown) => report(logger, 'error', message, error))
}
