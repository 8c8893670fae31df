import type { AcquireOptions, LeaseSettings } from '@leasehold/core'
import { checkFault, faultOfFunction, faultOfLimit, faultOfSignal } from '@leasehold/core/internal'
import { checkOptionNames } from '@leasehold/core/store-kit'

const optionNames = { wait: true, signal: true, onLost: true, metadata: true } as const

/** Throws a `LeaseConfigurationError` if an option is not valid, or not for a lease that is made of other leases. */
export function checkAcquireOptions(options: AcquireOptions, { name, owner }: LeaseSettings): void {
  const details = { leaseName: name, owner }
  const { wait, signal, onLost } = options
  checkOptionNames<Pick<AcquireOptions, keyof typeof optionNames>>('acquire', options, optionNames, details)
  checkFault(faultOfLimit('wait', wait) ?? faultOfSignal(signal) ?? faultOfFunction('onLost', onLost), details)
}
