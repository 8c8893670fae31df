import { MemoryLeaseStore } from '@leasehold/core'
import type { StoreSubject } from '@leasehold/testkit'

export const memorySubject: StoreSubject = {
  name: 'memory',
  time: 'virtual',
  serverTime: true,
  start: (clock) => {
    const store = new MemoryLeaseStore({ clock })
    return { open: () => store, delete: (name) => store.delete(name) }
  },
}
