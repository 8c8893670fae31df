import { type AcquireOptions, LeaseConfigurationError, type LeaseSettings } from '@leasehold/core'
import { checkOptionNames } from '@leasehold/core/store'

const optionNames = { wait: true, signal: true, onLost: true, metadata: true } as const

/** Throws a `LeaseConfigurationError` if an option is not valid, or not for a lease that is made of other leases. */
export function checkAcquireOptions(options: AcquireOptions, { name, owner }: LeaseSettings): void {
  const details = { leaseName: name, owner }
  checkOptionNames<Pick<AcquireOptions, keyof typeof optionNames>>('acquire', options, optionNames, details)
  const { wait, signal, onLost } = options as Record<string, unknown>
  const check = (isValid: boolean, fault: string): void => {
    if (!isValid) throw new LeaseConfigurationError(fault, details)
  }
  const isWait = wait === undefined || (typeof wait === 'number' && wait >= 0)
  check(isWait, `wait must be 0 or more milliseconds, or Infinity, not ${String(wait)}`)
  check(signal === undefined || signal instanceof AbortSignal, 'signal must be an AbortSignal')
  check(onLost === undefined || typeof onLost === 'function', 'onLost must be a function')
}
