import {
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseHeldError,
  LeaseLostError,
  LeaseNameError,
  LeaseStoreUnfitError,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { reasonOf } from '@leasehold/core/internal'

/** How many causes of causes are passed on. */
const DEEPEST = 8

/** The errors of this library, by their names. */
const leaseErrors = {
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseHeldError,
  LeaseLostError,
  LeaseNameError,
  LeaseStoreUnfitError,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} as const

/** An error as a message between threads carries it: a copy of an error has neither its class nor its fields. */
export interface PortableError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  /** The fields with values that a message can carry. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: PortableError | undefined
}

export function toPortable(error: unknown, depth = 0): PortableError {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: reasonOf(error), stack: undefined, fields: {}, cause: undefined }
  }
  const { name, message, stack, cause } = error
  const fields = Object.entries(error).filter(([, value]) =>
    ['string', 'number', 'boolean', 'bigint'].includes(typeof value),
  )
  return {
    name,
    message,
    stack,
    fields: Object.fromEntries(fields),
    cause: cause === undefined || depth === DEEPEST ? undefined : toPortable(cause, depth + 1),
  }
}

/** The error again. Its class is the same if that is one of this library's, and otherwise `Error`. */
export function fromPortable({ name, message, stack, fields, cause }: PortableError): Error {
  const details = { ...fields, ...(cause === undefined ? {} : { cause: fromPortable(cause) }) }
  const error = Object.hasOwn(leaseErrors, name)
    ? new leaseErrors[name as keyof typeof leaseErrors](message, { reason: 'closed', ...details })
    : Object.assign(new Error(message, details), fields, { name })
  if (stack !== undefined) error.stack = stack
  return error
}
