import type { Grant } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'

/**
 * Listens, for one holder, to a store that notices when another program changes the record of the grant. A watch that ends
 * or fails is not started again, because the heartbeats find such a change as well. Returns a function that stops it.
 */
export function watchGrant(store: LeaseStore, grant: Grant, onChanged: () => void): () => void {
  const call = new AbortableCall()
  const listen = async (): Promise<void> => {
    for await (const _ of store.watchGrant?.(grant, call) ?? []) {
      if (call.aborted) return
      onChanged()
    }
  }
  // The next heartbeat reports a failure of the store.
  listen().catch(() => {})
  return () => call.abort()
}
