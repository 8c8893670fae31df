import { LeaseConfigurationError, type LeaseFactory, StoreLease, systemClock } from '@leasehold/core'
import { LocalLeaseStore, type LocalLeaseStoreOptions } from './local-lease-store.js'

const makeLease: LeaseFactory = async (settings, { clock, logger, share }) => {
  const folder = checkFolder(settings.options.folder)
  const mode = toMode(settings.options.mode)
  // A clock other than the machine's is that of a test, and the store must then use it too.
  const time = clock === systemClock ? {} : { clock }
  const store = await share(`local:${mode ?? ''}:${folder}`, () => new LocalLeaseStore({ folder, mode, ...time }))
  return new StoreLease(settings, store, { clock, logger })
}

/**
 * The factory of leases in a folder, for `lease-class = "@leasehold/local"`: all leases of one provider and one folder
 * share a store. It reads `folder` and `mode` (octal digits, such as `"770"`) from the block.
 */
export const localLease: LeaseFactory = Object.assign(makeLease, {
  optionKeys: ['folder', 'mode'] satisfies (keyof LocalLeaseStoreOptions)[],
})

function checkFolder(folder: unknown): string {
  if (typeof folder === 'string' && folder !== '') return folder
  throw new LeaseConfigurationError("folder must be the path of a folder on a local disk, such as 'var/leases'", {
    store: 'local',
  })
}

/** Configuration has no octal numbers: the decimal digits that it gives are read as octal. */
function toMode(mode: unknown): number | undefined {
  if (mode === undefined || mode === null) return undefined
  const digits = String(mode)
  if (/^[0-7]{3,4}$/.test(digits)) return Number.parseInt(digits, 8)
  throw new LeaseConfigurationError(
    `mode must be three or four octal digits such as "770", not ${JSON.stringify(mode)}`,
    {
      store: 'local',
    },
  )
}
