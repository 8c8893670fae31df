import { LeaseConfigurationError, type LeaseFactory, StoreLease } from '@leasehold/core'
import { LocalLeaseStore } from './local-lease-store.js'

/** The factory that `lease-class` loads: `folder` is where the leases are kept, `mode` the permissions of a new one. */
export const localLease: LeaseFactory = async (settings, { clock, logger, share }) => {
  const { folder, mode } = settings.options
  if (typeof folder !== 'string') {
    throw new LeaseConfigurationError(`lease '${settings.name}': set folder to the path of a folder on a local disk`)
  }
  const store = await share(`local:${folder}`, () => new LocalLeaseStore({ folder, mode: toMode(mode) }))
  return new StoreLease(settings, store, { clock, logger })
}

/** Permission bits, as octal digits where they come from a configuration file. */
function toMode(mode: unknown): number | undefined {
  return typeof mode === 'string' ? Number.parseInt(mode, 8) : (mode as number | undefined)
}
