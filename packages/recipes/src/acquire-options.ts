import { type AcquireOptions, LeaseConfigurationError, type LeaseSettings } from '@leasehold/core'
import { shownValue } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames } from '@leasehold/core/store-kit'

const optionNames = { wait: true, signal: true, onLost: true, metadata: true } as const

/** Throws a `LeaseConfigurationError` if an option is not valid, or not for a lease that is made of other leases. */
export function checkAcquireOptions(options: AcquireOptions, { name, owner }: LeaseSettings): void {
  const details = { leaseName: name, owner }
  checkOptionNames<Pick<AcquireOptions, keyof typeof optionNames>>('acquire', options, optionNames, details)
  checkDuration('wait', options.wait, details)
  checkSignal(options.signal, details)
  checkFunction('onLost', options.onLost, details)
}

/** Throws a `LeaseConfigurationError` unless the value is a duration in milliseconds, `Infinity`, or not given. */
export function checkDuration(option: string, value: unknown, details: LeaseErrorDetails): void {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return
  throw new LeaseConfigurationError(
    `${option} must be 0 or more milliseconds, or Infinity, not ${shownValue(value)}`,
    details,
  )
}

/** Throws a `LeaseConfigurationError` unless the value is an `AbortSignal`, or not given. */
export function checkSignal(value: unknown, details: LeaseErrorDetails): void {
  if (value === undefined || value instanceof AbortSignal) return
  throw new LeaseConfigurationError(`signal must be an AbortSignal, not ${shownValue(value)}`, details)
}

/** Throws a `LeaseConfigurationError` unless the value is a function, or not given. */
export function checkFunction(option: string, value: unknown, details: LeaseErrorDetails): void {
  if (value === undefined || typeof value === 'function') return
  throw new LeaseConfigurationError(`${option} must be a function, not ${shownValue(value)}`, details)
}
