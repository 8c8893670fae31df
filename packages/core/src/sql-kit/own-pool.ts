import type { LeaseConfigurationError } from '../errors/lease-configuration-error.js'

/** How long a connection may take to open, in milliseconds: a silent server must not use up the pool. */
export const SQL_POOL_TIMEOUT = 10_000

/** How many connections a store opens for its operations, unless its configuration says otherwise. */
const SQL_POOL_SIZE = 4

/** The option `pool-size`, checked. */
export function poolSizeOf(
  misconfigured: (message: string) => LeaseConfigurationError,
  poolSize = SQL_POOL_SIZE,
): number {
  if (Number.isInteger(poolSize) && poolSize >= 1) return poolSize
  throw misconfigured(`pool-size must be 1 or more, not ${poolSize}`)
}
