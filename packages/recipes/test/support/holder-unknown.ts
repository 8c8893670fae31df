import type { LeaseRecord, LeaseStore } from '@leasehold/core'
import { viewOf } from '@leasehold/core/store'

/**
 * The store as Azure Blob Storage can show it: every second read of a name comes between the lease and the record of its
 * holder, when neither the holder nor the metadata are known. `always`: every read, because the holder has died there.
 */
export function holderUnknown(store: LeaseStore, { always = false } = {}): LeaseStore {
  const reads = new Map<string, number>()
  return viewOf(store, {
    read: (own) => async (name, call) => {
      const count = reads.get(name) ?? 0
      reads.set(name, count + 1)
      if (count % 2 === 1 && !always) return await own(name, call)
      const unknown: LeaseRecord = {
        name,
        owner: '',
        grantId: '',
        fencingToken: 0n,
        metadata: {},
        state: 'leased',
        duration: 'fixed',
      }
      return unknown
    },
  })
}
