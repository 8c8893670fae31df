import { LeaseConfigurationError } from './errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from './errors/lease-error.js'
import { shownValue } from './shown-value.js'

/** Throws a `LeaseConfigurationError` unless the value is `undefined` or an object whose values are all texts. For stores. */
export function checkMetadata(metadata: unknown, details: LeaseErrorDetails = {}): void {
  const fault = metadata === undefined ? undefined : faultOfMetadata(metadata)
  if (fault !== undefined) throw new LeaseConfigurationError(fault, details)
}

/** The reason why a value is not valid as metadata; `undefined` if it is valid. */
export function faultOfMetadata(metadata: unknown): string | undefined {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    return `metadata must be an object of texts, not ${shownValue(metadata)}`
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string')
      return `metadata.${key} must be a text, not ${shownValue(value)}: turn it into a string first`
  }
  return undefined
}
