import { providerFactory } from '@leasehold/core/store-kit'
import { MysqlLeaseStore } from './mysql-lease-store.js'
import { mysqlOptions } from './mysql-options.js'

/** The factory of leases that `lease-class = "@leasehold/mysql"` names. */
export const mysqlLease = providerFactory(mysqlOptions, (values, { clock }) => new MysqlLeaseStore({ ...values, clock }))
