/** A process of its own that takes turns under a lease, and writes in each under the guard: `contender.ts <contest as JSON>`. */
import { createLease } from '@leasehold/core'
import { MysqlGuard, MysqlLeaseStore } from '@leasehold/mysql'
import { contend, turnsUnder } from '@leasehold/testing/contention'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { poolTo } from './libraries.js'

/** The task of one process. */
export interface Contest {
  readonly port: number
  readonly owner: string
  readonly name: string
  readonly times: {
    readonly heartbeatTimeout: number
    readonly heartbeatInterval: number
    readonly operationTimeout: number
  }
  /** For how long it holds, in milliseconds. */
  readonly work: number
}

const { port, owner, name, times, work } = JSON.parse(process.argv[2] ?? '') as Contest
const pool = poolTo({ port }, { connectionLimit: 4, connectTimeout: 1_000 })
const writes = poolTo({ port }, { connectionLimit: 1, connectTimeout: 1_000 })
const lease = createLease(new MysqlLeaseStore(pool), name, { ...times, owner, logger: silentLogger })
const guard = new MysqlGuard()

async function write(token: bigint): Promise<void> {
  const connection = await writes.getConnection()
  try {
    await connection.beginTransaction()
    await guard.transactUnderLease(name, token, connection)
    await connection.query('insert into ledger (name, token) values (?, ?)', [name, String(token)])
    await connection.commit()
    connection.release()
  } catch (error) {
    connection.destroy()
    throw error
  }
}

await contend(turnsUnder(lease, { name, owner, work }, write), 5)
