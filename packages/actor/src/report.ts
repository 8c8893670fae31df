import { defaultLogger } from '@leasehold/core'
import type { AnyActorScope } from 'xstate'

/** Logs an error with the logger of the actor system. If the logger fails, emits a process warning instead. */
export function report({ logger }: AnyActorScope, message: string, error: unknown): void {
  callGuarded(
    () => logger(message, error),
    () => defaultLogger.error(message, error),
  )
}

/** Calls user code. An error that it throws, or that its promise rejects with, goes to `failed`. */
export function callGuarded(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    onRejection(call(), failed)
  } catch (error) {
    failed(error)
  }
}

/** Calls back if `value` is a promise that rejects. Prevents an unhandled rejection. */
export function onRejection(value: unknown, callback: (error: unknown) => void): void {
  if (typeof value === 'object' && value !== null) Promise.resolve(value).catch(callback)
}
