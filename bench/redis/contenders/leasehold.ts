import { createLease, type StoreLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { everything, type Library } from './contender.js'
import { HeldLock, type LockUse } from './held-lock.js'

interface Options {
  heartbeatInterval: number
  operationTimeout: number
}

const leaseUse: LockUse<StoreLease> = {
  views: (lease) => [
    { means: '`checkLease()`', believes: () => lease.checkLease() },
    { means: '`signal`', believes: () => !lease.signal.aborted },
  ],
  release: (lease) => lease.release(),
}

export const leasehold: Library<Options> = {
  name: '@leasehold/redis',
  settings: { default: everything, tuned: ['cycles'] },
  holders: 50,
  /** The ttl is asked of all alike; there is no default of what has to fit into it. */
  choose: (setting, { purpose, ttl }) => {
    const short = ttl < 10_000
    return {
      library: { heartbeatInterval: ttl * (short ? 0.25 : 0.3), operationTimeout: ttl * (short ? 0.2 : 0.05) },
      client: setting === 'tuned' && purpose === 'cycles' ? { enableAutoPipelining: true } : {},
    }
  },
  open: (client, options, { ttl }) => {
    // The compiler does not know the client, which is in the rivals' folder.
    const store = new RedisLeaseStore(client as unknown as ConstructorParameters<typeof RedisLeaseStore>[0])
    const settings = { ...options, heartbeatTimeout: ttl }
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
      close: () => store.close(),
    }
  },
}
