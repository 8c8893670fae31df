import type { Grant } from '@leasehold/core'
import { PostgresGuard, type TableNames, type Transaction } from '@leasehold/postgres'

/** Guards a transaction by the lease of a grant. */
export async function underLease(
  transaction: Transaction,
  { name, fencingToken }: Pick<Grant, 'name' | 'fencingToken'>,
  names?: TableNames,
): Promise<void> {
  await new PostgresGuard(names).transactUnderLease(name, fencingToken, transaction)
}
