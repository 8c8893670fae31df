import { HeartbeatThread } from '@leasehold/core/thread'
import { LocalLeaseStore } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import type { StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { Relays } from '../../core/test/thread/support/relays.js'
import { fromSource } from '../../core/test/thread/support/thread-options.js'
import { threadedLaws, threadedLeases } from '../../core/test/thread/support/threaded-leases.js'

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

const local: StoreSubject = {
  name: 'local',
  time: 'real',
  ttl: 8_000,
  clients: true,
  serverTime: true,
  start: () => {
    const ends: (() => void)[] = []
    const folder = temporaryFolder({ onTestFinished: (end) => void ends.push(end as () => void) })
    return {
      open: () => new LocalLeaseStore({ folder }),
      stop: () => {
        for (const end of ends) end()
      },
    }
  },
}

describeLeaseLaws(
  threadedLeases(
    local,
    () => thread,
    () => relays,
  ),
  threadedLaws,
)
