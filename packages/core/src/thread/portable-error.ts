import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import type { LeaseError } from '../errors/lease-error.js'
import { LeaseHeldError } from '../errors/lease-held-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import { LeaseNameError } from '../errors/lease-name-error.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import { LeaseUnauthorisedError } from '../errors/lease-unauthorised-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import type { LeaseLostReason } from '../lease-lost.js'
import { reasonOf } from '../shown-value.js'

/** How many causes of causes are passed on. */
const DEEPEST = 8

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
  const error = leaseErrorOf(name, message, details) ?? Object.assign(new Error(message, details), fields, { name })
  if (stack !== undefined) error.stack = stack
  return error
}

function leaseErrorOf(name: string, message: string, details: object): LeaseError | undefined {
  switch (name) {
    case 'LeaseConfigurationError':
      return new LeaseConfigurationError(message, details)
    case 'LeaseConflictError':
      return new LeaseConflictError(message, details)
    case 'LeaseHeldError':
      return new LeaseHeldError(message, details)
    case 'LeaseLostError':
      return new LeaseLostError(message, { reason: 'closed' satisfies LeaseLostReason, ...details })
    case 'LeaseNameError':
      return new LeaseNameError(message, details)
    case 'LeaseTimeoutError':
      return new LeaseTimeoutError(message, details)
    case 'LeaseUnauthorisedError':
      return new LeaseUnauthorisedError(message, details)
    case 'LeaseUnavailableError':
      return new LeaseUnavailableError(message, details)
    default:
      return undefined
  }
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof value)
}
