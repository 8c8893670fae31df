// #region worker
import type { Lease } from '@leasehold/core'
import type { Counter } from './counter.js'

/** One turn of the work: reads, thinks, and writes, under the lease. `false`: it did not come to that. */
export async function increment(lease: Lease, counter: Counter, takesTime: () => Promise<void>): Promise<boolean> {
  const token = lease.fencingToken
  if (token === undefined || !lease.checkLease()) return false
  const value = counter.read(token)
  await takesTime()
  if (!lease.checkLease()) return false // lost while we were thinking
  await takesTime() // on its way to the database: anything may happen here
  return counter.write(value + 1, token)
}
// #endregion worker
