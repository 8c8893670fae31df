import { createLease } from '@leasehold/core'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'
import type { Contender } from './contender.js'

const TTL = 30_000

const TIMES = { heartbeatTimeout: TTL, heartbeatInterval: 9_000, operationTimeout: 1_500 }

/** Ours, on the user's own pool. Each lease has its heartbeats, its fencing token and its metadata. */
export const leasehold: Contender = {
  id: 'leasehold',
  name: '@leasehold/postgres, by pg',
  ours: true,
  mostWaiters: Number.POSITIVE_INFINITY,
  open: async (url, connections) => {
    const pool = new Pool({ connectionString: url, max: connections })
    const store = new PostgresLeaseStore(pool)
    return {
      cycle: (name) => {
        const lease = createLease(store, name, TIMES)
        return async () => {
          if (!(await lease.acquire())) throw new Error(`${name} is held`)
          await lease.release()
        }
      },
      hold: async (name) => {
        const lease = createLease(store, name, TIMES)
        await lease.acquire({ wait: Number.POSITIVE_INFINITY })
        return async () => {
          await lease.release()
        }
      },
      close: async () => {
        await store.close()
        await pool.end()
      },
    }
  },
}
