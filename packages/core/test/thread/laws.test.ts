import { MemoryLeaseStore } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/core/thread'
import type { StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { Relays } from './support/relays.js'
import { fromSource } from './support/thread-options.js'
import { threadedLaws, threadedLeases } from './support/threaded-leases.js'

let thread: HeartbeatThread
let relays: Relays

beforeAll(() => {
  thread = new HeartbeatThread(fromSource)
  relays = new Relays()
})

afterAll(async () => {
  await thread.close()
  relays.close()
})

const memory: StoreSubject = {
  name: 'memory',
  time: 'real',
  ttl: 8_000,
  serverTime: true,
  start: () => {
    const store = new MemoryLeaseStore()
    return { open: () => store, delete: (name) => store.delete(name) }
  },
}

describeLeaseLaws(
  threadedLeases(
    memory,
    () => thread,
    () => relays,
  ),
  threadedLaws,
)
