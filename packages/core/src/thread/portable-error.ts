import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import { LeaseHeldError } from '../errors/lease-held-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import { LeaseNameError } from '../errors/lease-name-error.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import { LeaseUnauthorisedError } from '../errors/lease-unauthorised-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { reasonOf } from '../shown-value.js'

/** How many causes of causes are passed on. */
const DEEPEST = 8

/** The errors of this library, by their names. */
const leaseErrors = {
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseHeldError,
  LeaseLostError,
  LeaseNameError,
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
  const fields = Object.entries(error).filter(([, value]) => isPlain(value))
  return {
    name,
    message,
    stack,
    fields: Object.fromEntries(fields),
    cause: cause === undefined || depth === DEEPEST ? undefined : toPortable(cause, depth + 1),
  }
}

/** The error again: of the same class, where it is one of this library's. */
export function fromPortable({ name, message, stack, fields, cause }: PortableError): Error {
  const details = { ...fields, ...(cause === undefined ? {} : { cause: fromPortable(cause) }) }
  const error = Object.hasOwn(leaseErrors, name)
    ? new leaseErrors[name as keyof typeof leaseErrors](message, { reason: 'closed', ...details })
    : Object.assign(new Error(message, details), fields, { name })
  if (stack !== undefined) error.stack = stack
  return error
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof value)
}
