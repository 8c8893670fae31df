// #region list
import { listLeases } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

/** The leases of a folder, as any process of the machine sees them. */
export async function leasesIn(folder: string): Promise<string[]> {
  const store = new LocalLeaseStore({ folder })
  const lines: string[] = []
  for await (const { name, state, owner } of listLeases(store, '')) lines.push(`${name} is ${state}: ${owner}`)
  await store.close()
  return lines
}
// #endregion list
