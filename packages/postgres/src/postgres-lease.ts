import { importOptional, providerFactory } from '@leasehold/core/store-kit'
import { postgresOptions } from './postgres-options.js'

const pg = { name: 'pg', neededBy: 'a configuration of @leasehold/postgres', store: 'postgres' }

/**
 * The factory that `lease-class = "@leasehold/postgres"` loads. All leases of one provider with the same options share a store
 * and its connections. Needs pg, which it loads at the first lease. The tables must exist: see `migrate`.
 */
export const postgresLease = providerFactory(postgresOptions, async (options, context) => {
  const { OwnPoolStore } = await importOptional(pg, () => import('./own-pool-store.js'))
  return new OwnPoolStore(options, context)
})
