import { createLease, type StoreLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { connected, openClient } from '../redis-client.js'
import type { Chosen, Contender, Purpose, Session, Setting, Use } from './contender.js'
import { HeldLock, type LockUse } from './held-lock.js'

interface Options {
  heartbeatInterval: number
  operationTimeout: number
}

/** The ttl is asked of all alike; there is no default of what has to fit into it. */
function chosenFor(setting: Setting, { purpose, ttl }: Use): Chosen<Options> {
  const short = ttl < 10_000
  return {
    library: { heartbeatInterval: ttl * (short ? 0.25 : 0.3), operationTimeout: ttl * (short ? 0.2 : 0.05) },
    client: setting === 'tuned' && purpose === 'cycles' ? { enableAutoPipelining: true } : {},
  }
}

const leaseUse: LockUse<StoreLease> = {
  views: (lease) => [
    { means: '`checkLease()`', believes: () => lease.checkLease() },
    { means: '`signal`', believes: () => !lease.signal.aborted },
  ],
  release: (lease) => lease.release(),
}

function open(setting: Setting, port: number, use: Use): Session {
  const { library, client: clientOptions } = chosenFor(setting, use)
  const client = openClient(port, clientOptions)
  // The compiler does not know the client, which is in the rivals' folder.
  const store = new RedisLeaseStore(client as unknown as ConstructorParameters<typeof RedisLeaseStore>[0])
  const settings = { ...library, heartbeatTimeout: use.ttl }
  return {
    hold: async (name) => {
      let acquired: Promise<boolean> | undefined
      const held = new HeldLock(leaseUse, (onLost) => {
        const lease = createLease(store, name, settings)
        acquired = lease.acquire({ wait: Number.POSITIVE_INFINITY, onLost })
        return lease
      })
      await acquired
      return held
    },
    cycle: (name) => {
      const lease = createLease(store, name, settings)
      return async () => {
        if (!(await lease.acquire())) throw new Error(`'${name}' is held by someone else`)
        await lease.release()
      }
    },
    connected: () => connected(client),
    disconnect: () => {
      store.close().catch(() => {})
      client.disconnect()
    },
  }
}

function leaseholdIn(setting: Setting, purposes: readonly Purpose[]): Contender {
  return {
    id: `leasehold-${setting}`,
    library: '@leasehold/redis',
    setting,
    ours: true,
    purposes,
    holders: 50,
    settingsFor: (use) => chosenFor(setting, use),
    open: (port, use) => open(setting, port, use),
  }
}

export function leaseholdContenders(): readonly Contender[] {
  return [
    leaseholdIn('default', ['overlap', 'hand-over', 'holding', 'cycles', 'event-loop-lag']),
    leaseholdIn('tuned', ['cycles']),
  ]
}
