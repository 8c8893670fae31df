// #region example
import { createServer, type Server } from 'node:http'
import type { LeaseStore } from '@leasehold/core'
import { LeaseUi } from '@leasehold/ui'

/** Shows the leases of a store at http://localhost:8080/#token=TOKEN. */
export function showLeases(store: LeaseStore, token: string, port = 8080): Server {
  const ui = new LeaseUi(store, { token })
  return createServer(ui.handle).listen(port, '127.0.0.1')
}
// #endregion example
