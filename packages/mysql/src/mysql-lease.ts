import { importOptional, providerFactory } from '@leasehold/core/store-kit'
import { mysqlOptions } from './mysql-options.js'

const mysql2 = { name: 'mysql2', neededBy: 'a configuration of @leasehold/mysql', store: 'mysql' }

/**
 * The factory that `lease-class = "@leasehold/mysql"` loads. All leases of one provider with the same options share a store and
 * its connections. Needs mysql2, which it loads at the first lease.
 */
export const mysqlLease = providerFactory(mysqlOptions, async (options, context) => {
  const { OwnPoolStore } = await importOptional(mysql2, () => import('./own-pool-store.js'))
  return new OwnPoolStore(options, context)
})
