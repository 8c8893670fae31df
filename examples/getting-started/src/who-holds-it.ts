// #region inspect
import { breakLease, type LeaseStore, listLeases, readLease } from '@leasehold/core'

export async function whoHoldsIt(store: LeaseStore) {
  for await (const { name, state } of listLeases(store, 'imp')) console.log(`${name} is ${state}`)

  const record = await readLease(store, 'import')
  console.log(`import is held by ${record?.owner}`)

  // Ends the lease of any holder.
  const { remaining } = await breakLease(store, 'import', { period: 0, reason: 'it hangs' })
  console.log(`import is free in ${remaining} ms`)
}
// #endregion inspect
