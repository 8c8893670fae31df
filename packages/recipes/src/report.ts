import { defaultLogger, type Logger } from '@leasehold/core'

/** Logs a failure in the background. If the logger of the user throws or rejects, the default one logs the failure. */
export function report(logger: Logger, level: 'warn' | 'error', message: string, failure: unknown): void {
  callGuarded(
    () => logger[level](message, failure),
    () => defaultLogger[level](`${message} (the logger failed)`, failure),
  )
}

/** Calls user code. An error that it throws, or that its promise rejects with, goes to `onError`. */
export function callGuarded(call: () => unknown, onError: (error: unknown) => void): void {
  void (async () => await call())().catch(onError)
}
