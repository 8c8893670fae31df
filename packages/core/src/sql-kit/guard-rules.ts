import { LeaseLostError } from '../errors/lease-lost-error.js'
import type { Fence } from '../store-kit/fence.js'

/**
 * The fence of a guard that needs the lease itself. Throws a `LeaseLostError` without a token, which a lease that is not held has
 * not; first what `open` throws for other arguments that are wrong.
 */
export function underLease(
  store: string,
  fencingToken: bigint | string | undefined,
  open: (token: bigint | string) => Fence,
): Fence {
  const fence = open(fencingToken ?? 0n)
  if (fencingToken !== undefined) return fence
  const message = `the lease '${fence.resource}' is not held: acquire it before the transaction`
  throw new LeaseLostError(message, { leaseName: fence.resource, store, reason: 'expired' })
}

/** The error of a guard that found another grant, or none. */
export function lostUnderLease(store: string, { resource, token }: Fence): LeaseLostError {
  const message = `the lease '${resource}' is not held under the fencing token ${token}: roll back`
  return new LeaseLostError(message, { leaseName: resource, store, reason: 'taken' })
}

/**
 * The first error of a chain of causes for which `found` returns a value, and that value. Libraries such as Drizzle wrap the
 * error of the client in one of their own.
 */
export function firstCause<T>(error: unknown, found: (cause: Error) => T | undefined): readonly [Error, T] | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const value = found(cause)
    if (value !== undefined) return [cause, value]
  }
  return undefined
}
