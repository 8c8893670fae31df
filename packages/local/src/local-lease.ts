import { LeaseConfigurationError } from '@leasehold/core'
import { providerFactory } from '@leasehold/core/store'
import { LocalLeaseStore } from './local-lease-store.js'
import { options } from './local-options.js'

/** The factory of leases in a folder, for `lease-class = "@leasehold/local"`. */
export const localLease = providerFactory(options, ({ folder = '', mode }, { clock }) => {
  return new LocalLeaseStore({ folder, mode: mode === undefined ? undefined : toMode(mode), clock })
})

/** Configuration has no octal numbers, so the mode is a text. */
function toMode(digits: string): number {
  if (/^[0-7]{3,4}$/.test(digits)) return Number.parseInt(digits, 8)
  const message = `mode must be three or four octal digits such as "770", not ${JSON.stringify(digits)}`
  throw new LeaseConfigurationError(message, { store: 'local' })
}
