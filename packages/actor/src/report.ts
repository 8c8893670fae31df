import { defaultLogger } from '@leasehold/core'
import type { AnyActorScope } from 'xstate'

/** Writes an error to the logger of the actor system. If the logger fails, the error becomes a process warning. */
export function report({ logger }: AnyActorScope, message: string, error: unknown): void {
  const failed = (): void => warnProcess(message, error)
  try {
    onRejection(logger(message, error), failed)
  } catch {
    failed()
  }
}

/** Calls back where a value is a promise that rejects; without this, the rejection would be unhandled. */
export function onRejection(value: unknown, callback: (error: unknown) => void): void {
  if (typeof value === 'object' && value !== null) Promise.resolve(value).catch(callback)
}

function warnProcess(message: string, error: unknown): void {
  try {
    defaultLogger.error(message, error)
  } catch {
    // The error has no text: `String(Object.create(null))` throws.
    defaultLogger.error(message)
  }
}
