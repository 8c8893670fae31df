// #region example
import { appendFileSync } from 'node:fs'
import { createLease } from '@leasehold/core'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'

export async function importOnce(folder: string, file: string) {
  const store = new LocalLeaseStore({ folder })
  const guard = new LocalGuard({ folder })
  await createLease(store, 'import').run(async ({ fencingToken }) => {
    // Does not run after an action with a larger token: a process that woke up too late writes nothing.
    guard.transact('imports', fencingToken, () => appendFileSync(file, 'imported\n'))
  })
  await guard.close()
  await store.close()
}
// #endregion example
