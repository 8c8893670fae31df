import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { environmentOf } from '../lease/lease-environment.js'
import type { LeaseFactory } from '../lease/lease-factory.js'
import { ProviderOptions } from '../store-kit/provider-options.js'
import { StoreLease } from '../store-lease/store-lease.js'
import { migrate } from './migrate.js'
import { KIND } from './migrating-store.js'

const migrateOptions = new ProviderOptions(KIND, {
  from: {
    type: 'text',
    example: '"leasehold.redis"',
    description: 'The path of the block of the store that leases move from.',
  },
  to: {
    type: 'text',
    example: '"leasehold.postgres"',
    description: 'The path of the block of the store that leases move to.',
  },
})

const makeLease: LeaseFactory = async (settings, context) => {
  const { from = '', to = '' } = migrateOptions.read(settings.options)
  const { share, storeAt } = context
  if (storeAt === undefined) {
    throw new LeaseConfigurationError(
      'leases that move between stores cannot be kept by a heartbeat thread: switch heartbeat-thread off',
      { leaseName: settings.name, store: KIND },
    )
  }
  // Before the store is shared: a block without a lease-class of its own leads back to here.
  const [old, next] = [await storeAt(from), await storeAt(to)]
  const store = await share(JSON.stringify([KIND, from, to]), () => migrate(old, next))
  return new StoreLease(settings, store, environmentOf(context))
}

/**
 * The factory that `lease-class = "@leasehold/core/migrate"` loads: leases that move between the stores of two other blocks,
 * whose paths are `from` and `to`.
 */
export const migrateLease: LeaseFactory = Object.assign(makeLease, { optionKeys: migrateOptions.keys })
