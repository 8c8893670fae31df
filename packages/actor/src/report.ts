import { defaultLogger } from '@leasehold/core'
import type { AnyActorScope } from 'xstate'

/** Logs an error with the logger of the actor system. If the logger fails, emits a process warning instead. */
export function report({ logger }: AnyActorScope, message: string, error: unknown): void {
  const failed = (): void => warnProcess(message, error)
  try {
    onRejection(logger(message, error), failed)
  } catch {
    failed()
  }
}

/** Calls back if `value` is a promise that rejects. Prevents an unhandled rejection. */
export function onRejection(value: unknown, callback: (error: unknown) => void): void {
  if (typeof value === 'object' && value !== null) Promise.resolve(value).catch(callback)
}

function warnProcess(message: string, error: unknown): void {
  try {
    defaultLogger.error(message, error)
  } catch {
    // The error cannot be converted to a string: `String(Object.create(null))` throws.
    defaultLogger.error(message)
  }
}
