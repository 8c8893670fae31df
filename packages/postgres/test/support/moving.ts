/**
 * A process of its own that contends for one lease until it is killed, with the old store, with both or with the new one:
 * `moving.ts <task as JSON>`. It releases and ends on SIGTERM.
 */
import { createLease, type LeaseStore } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { contend, turnsUnder } from '@leasehold/testing/contention'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { Pool } from 'pg'
import { guardedRedis } from '../../../redis/test/support/guarded-redis.js'

/** The task of one process. */
export interface MovingTask {
  readonly redis: number
  readonly postgres: number
  readonly owner: string
  /** The stores in their order: one of them, or both. */
  readonly stores: readonly ('redis' | 'postgres')[]
  readonly name: string
  readonly ttl: number
  readonly work: number
  readonly pause: number
}

const task = JSON.parse(process.argv[2] ?? '') as MovingTask
const { name, owner, ttl, work, pause } = task
const { store: redis, write } = guardedRedis(task.redis)

function open(store: 'redis' | 'postgres'): LeaseStore {
  if (store === 'redis') return redis
  const pool = new Pool({ host: '127.0.0.1', port: task.postgres, user: 'postgres', database: 'postgres', max: 2 })
  pool.on('error', () => {})
  return new PostgresLeaseStore(pool)
}

const [from, to] = task.stores.map(open)
if (from === undefined) throw new Error('the task names no store')
const lease = createLease(to === undefined ? from : migrate(from, to), name, {
  heartbeatTimeout: ttl,
  heartbeatInterval: ttl / 8,
  operationTimeout: ttl / 2,
  owner,
  logger: silentLogger,
})
await contend(
  turnsUnder(lease, { name, owner, work }, (token) => write(`guarded:${name}`, token)),
  pause,
)
