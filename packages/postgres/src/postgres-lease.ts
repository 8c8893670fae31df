import { providerFactory } from '@leasehold/core/store'
import { PostgresLeaseStore } from './postgres-lease-store.js'
import { postgresOptions } from './postgres-options.js'

/** The factory of leases that `lease-class = "@leasehold/postgres"` names. */
export const postgresLease = providerFactory(
  postgresOptions,
  (values, { clock }) => new PostgresLeaseStore({ ...values, clock }),
)
