import { LocalLeaseStore } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import type { StoreSubject } from '@leasehold/testkit'
import { describeLeaseLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../heartbeat-thread/test/support/relays.js'
import { threadedLaws, threadedLeases } from '../../heartbeat-thread/test/support/threaded-leases.js'

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

describeLeaseLaws(threadedLeases(local, relayedStores()), threadedLaws)
