import { LeaseConfigurationError } from './lease-configuration-error.js'
import type { LeaseErrorDetails } from './lease-error.js'
import { shownValue } from './shown-value.js'

/** The fault of an option, and what its value must be; `undefined` if the value is right, or was not given. */
export type OptionFault = string | undefined

/** Throws a `LeaseConfigurationError` if there is a fault. */
export function checkFault(fault: OptionFault, details: LeaseErrorDetails = {}): void {
  if (fault !== undefined) throw new LeaseConfigurationError(fault, details)
}

/** The fault of a time limit. */
export function faultOfLimit(option: string, value: unknown): OptionFault {
  const fits = typeof value === 'number' && value >= 0
  return faultUnless(fits, option, '0 or more milliseconds, or Infinity', value)
}

/** The fault of a pause, which must be finite. */
export function faultOfPause(option: string, value: unknown): OptionFault {
  const fits = typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY
  return faultUnless(fits, option, '0 or more milliseconds, and finite', value)
}

/** The fault of the longest time of something. */
export function faultOfDuration(option: string, value: unknown): OptionFault {
  const fits = typeof value === 'number' && value > 0
  return faultUnless(fits, option, 'a positive number of milliseconds, or Infinity', value)
}

/** The fault of the time between two repetitions. */
export function faultOfInterval(option: string, value: unknown): OptionFault {
  const fits = typeof value === 'number' && Number.isFinite(value) && value > 0
  return faultUnless(fits, option, 'a positive, finite number of milliseconds', value)
}

export function faultOfFunction(option: string, value: unknown): OptionFault {
  return faultUnless(typeof value === 'function', option, 'a function', value)
}

export function faultOfFlag(option: string, value: unknown): OptionFault {
  return faultUnless(typeof value === 'boolean', option, 'true or false', value)
}

export function faultOfSignal(value: unknown): OptionFault {
  return faultUnless(value instanceof AbortSignal, 'signal', 'an AbortSignal', value)
}

function faultUnless(fits: boolean, option: string, expected: string, value: unknown): OptionFault {
  return fits || value === undefined ? undefined : misfit(option, expected, value)
}

/** The fault of a value. `expected`: what fits, such as `a text`. */
export function misfit(name: string, expected: string, value: unknown): string {
  return `${name} must be ${expected}, not ${shownValue(value)}`
}
