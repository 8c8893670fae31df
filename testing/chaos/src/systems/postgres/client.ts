import { PostgresGuard, PostgresLeaseStore } from '@leasehold/postgres'
import type { Connection } from '../system.js'
import { poolTo } from './pool-to.js'
import { PostgresRegister } from './register.js'
import type { PostgresClientSettings } from './settings.js'

/** Leases and registers have a pool each, so that no heartbeat waits for a write. */
export default function connect(settings: PostgresClientSettings): Promise<Connection> {
  const [leases, registers] = [poolTo(settings, 5), poolTo(settings, 4)]
  const store = new PostgresLeaseStore(leases)
  const guard = new PostgresGuard()
  return Promise.resolve({
    store,
    register: (name) => new PostgresRegister(name, registers, guard),
    close: async () => {
      await store.close()
      // A connection that hangs would never end; the process ends it.
      for (const pool of [leases, registers]) void pool.end().catch(() => {})
    },
  })
}
