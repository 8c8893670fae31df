import { LeaseConfigurationError, toMilliseconds } from '@leasehold/core'

/** A text of a configuration; `undefined` where it is absent or empty. */
export function textIn(key: string, value: unknown): string | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value === 'string') return value
  throw wrong(`${key} must be a text, not ${JSON.stringify(value)}`)
}

/** A duration of a configuration, in milliseconds. */
export function durationIn(key: string, value: unknown): number | undefined {
  return isAbsent(value) ? undefined : toMilliseconds(key, value)
}

/** A switch of a configuration, as HOCON writes them. */
export function switchIn(key: string, value: unknown): boolean | undefined {
  if (isAbsent(value)) return undefined
  if (value === true || value === 'true' || value === 'on' || value === 'yes') return true
  if (value === false || value === 'false' || value === 'off' || value === 'no') return false
  throw wrong(`${key} must be on or off, not ${JSON.stringify(value)}`)
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { store: 'kubernetes' })
}
