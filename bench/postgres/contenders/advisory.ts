import { createHash } from 'node:crypto'
import { Pool, type PoolClient } from 'pg'
import type { Contender, Session } from './contender.js'

/** The key of an advisory lock: half a hash, because a key is a number. */
function keyOf(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString()
}

async function ask(client: PoolClient, name: string, text: string, key: string): Promise<boolean> {
  const { rows } = await client.query({ name, text, values: [key] })
  return rows[0]?.answer !== false
}

const SESSION = {
  try: 'SELECT pg_try_advisory_lock($1) AS answer',
  wait: 'SELECT pg_advisory_lock($1)',
  release: 'SELECT pg_advisory_unlock($1) AS answer',
}

/** A connection belongs to the lock for as long as it is held. */
function sessionLocks(pool: Pool): Session {
  const acquire = async (operation: 'try' | 'wait', key: string): Promise<() => Promise<void>> => {
    const client = await pool.connect()
    if (!(await ask(client, operation, SESSION[operation], key))) throw new Error(`${key} is held`)
    return async () => {
      await ask(client, 'release', SESSION.release, key)
      client.release()
    }
  }
  return {
    cycle: (name) => {
      const key = keyOf(name)
      return async () => (await acquire('try', key))()
    },
    hold: (name) => acquire('wait', keyOf(name)),
    close: () => pool.end(),
  }
}

/** A transaction belongs to the lock for as long as it is held. */
function transactionLocks(pool: Pool): Session {
  const acquire = async (text: string, key: string): Promise<() => Promise<void>> => {
    const client = await pool.connect()
    await client.query('BEGIN')
    if (!(await ask(client, text, text, key))) throw new Error(`${key} is held`)
    return async () => {
      await client.query('COMMIT')
      client.release()
    }
  }
  return {
    cycle: (name) => {
      const key = keyOf(name)
      return async () => (await acquire('SELECT pg_try_advisory_xact_lock($1) AS answer', key))()
    },
    hold: (name) => acquire('SELECT pg_advisory_xact_lock($1)', keyOf(name)),
    close: () => pool.end(),
  }
}

function advisory(id: string, name: string, on: (pool: Pool) => Session): Contender {
  return {
    id,
    name,
    ours: false,
    mostWaiters: 100,
    open: async (url, connections) => on(new Pool({ connectionString: url, max: connections })),
  }
}

export const advisoryContenders: readonly Contender[] = [
  advisory('advisory-session', 'advisory lock of a session, by pg', sessionLocks),
  advisory('advisory-transaction', 'advisory lock of a transaction, by pg', transactionLocks),
]
