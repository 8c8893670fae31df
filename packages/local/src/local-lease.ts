import { providerFactory } from '@leasehold/core/store-kit'
import { misconfigured } from './failure-of.js'
import { LocalLeaseStore } from './local-lease-store.js'
import { localOptions } from './local-options.js'

/** The factory of leases in a folder, for `lease-class = "@leasehold/local"`. Leases of one folder share a store. */
export const localLease = providerFactory(localOptions, ({ folder = '', mode }, { clock }) => {
  return new LocalLeaseStore({ folder, mode: toMode(mode), clock })
})

/** Configurations have no octal numbers: the digits are read as octal. */
function toMode(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined
  if (/^[0-7]{3,4}$/.test(digits)) return Number.parseInt(digits, 8)
  throw misconfigured(`mode must be three or four octal digits such as "770", not ${JSON.stringify(digits)}`)
}
