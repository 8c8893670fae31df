import { defaultLogger } from '@leasehold/core'
import { callGuarded } from '@leasehold/core/internal'
import type { AnyActorScope } from 'xstate'

/** Logs an error with the logger of the actor system. If the logger fails, emits a process warning instead. */
export function report({ logger }: AnyActorScope, message: string, error: unknown): void {
  callGuarded(
    () => logger(message, error),
    () => defaultLogger.error(message, error),
  )
}
