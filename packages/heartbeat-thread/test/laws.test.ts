import { MemoryLeaseStore } from '@leasehold/core'
import type { StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from './support/relays.js'
import { threadedLaws, threadedLeases } from './support/threaded-leases.js'

const memory: StoreSubject = {
  name: 'memory',
  time: 'real',
  ttl: 12_000,
  serverTime: true,
  start: () => {
    const store = new MemoryLeaseStore()
    return { open: () => store, delete: (name) => store.delete(name) }
  },
}

describeLeaseLaws(threadedLeases(memory, relayedStores()), threadedLaws)
