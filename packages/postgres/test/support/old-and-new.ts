/**
 * A process of its own that contends for one lock until it is killed, by an advisory lock alone or by a lease with `compat`:
 * `old-and-new.ts <task as JSON>`. It releases and ends on SIGTERM.
 */
import { createLease } from '@leasehold/core'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { contend, reportHolding, turnsUnder } from '@leasehold/testing/contention'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { Client, Pool } from 'pg'

/** The task of one process. */
export interface AdvisoryTask {
  readonly port: number
  readonly owner: string
  /** Whether it uses the lock alone. */
  readonly isOld: boolean
  /** The name of the lease; `hashtext` of it is the key of the lock. */
  readonly name: string
  readonly ttl: number
  readonly work: number
  readonly pause: number
}

const { port, owner, isOld, name, ttl, work, pause } = JSON.parse(process.argv[2] ?? '') as AdvisoryTask
const way = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }

async function byLock(): Promise<() => Promise<void>> {
  const client = new Client(way)
  await client.connect()
  let isConnected = true
  client.on('end', () => {
    isConnected = false
  })
  return async () => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    await reportHolding({ name, owner, work }, () => isConnected)
    await client.query('select pg_advisory_unlock(hashtext($1))', [name])
  }
}

function byLease(): () => Promise<void> {
  const pool = new Pool({ ...way, max: 2 })
  pool.on('error', () => {})
  const lease = createLease(new PostgresLeaseStore(pool, { compat: 'pg-advisory-lock' }), name, {
    heartbeatTimeout: ttl,
    heartbeatInterval: ttl / 8,
    operationTimeout: ttl / 2,
    owner,
    logger: silentLogger,
  })
  return turnsUnder(lease, { name, owner, work })
}

await contend(isOld ? await byLock() : byLease(), pause)
