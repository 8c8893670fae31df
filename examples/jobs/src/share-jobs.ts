// #region jobs
import type { LeaseStore } from '@leasehold/core'
import { LeaseManager } from '@leasehold/recipes'

/** Every process calls this with the same list: each invoice is sent once while no process dies. */
export async function sendInvoices(store: LeaseStore, month: string, send: (invoice: string) => Promise<void>) {
  const invoices = ['anna', 'berta', 'carla', 'doris', 'emma', 'frida']
  await using manager = new LeaseManager(store, { name: 'invoices', heartbeatTimeout: 2_000 })
  return await manager.processEach(invoices, send, { concurrency: 1, run: month })
}
// #endregion jobs
