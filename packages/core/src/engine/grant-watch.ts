import type { Grant } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { AbortableCall } from '../store/store-call.js'

/**
 * Listens, for one holder, to a store that notices when another program changes the record of the grant. A watch that ends
 * or fails is not started again, because the heartbeats find such a change as well.
 */
export class GrantWatch {
  readonly #call = new AbortableCall()

  constructor(store: LeaseStore, grant: Grant, onChanged: () => void) {
    void this.#listen(store, grant, onChanged)
  }

  stop(): void {
    this.#call.abort()
  }

  async #listen(store: LeaseStore, grant: Grant, onChanged: () => void): Promise<void> {
    try {
      for await (const _ of store.watchGrant?.(grant, this.#call) ?? []) {
        if (this.#call.aborted) return
        onChanged()
      }
    } catch {
      // The next heartbeat reports the failure of the store.
    }
  }
}
