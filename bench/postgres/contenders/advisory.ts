import { createHash } from 'node:crypto'
import { Pool, type PoolClient } from 'pg'
import type { Contender, Session } from './contender.js'

/** The key of an advisory lock: half a hash, because a key is a number. */
function keyOf(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString()
}

/** The statements of a lock. */
interface Statements {
  readonly begin?: string
  readonly try: string
  readonly wait: string
  readonly release: string
}

const ofSession: Statements = {
  try: 'SELECT pg_try_advisory_lock($1) AS answer',
  wait: 'SELECT pg_advisory_lock($1)',
  release: 'SELECT pg_advisory_unlock($1) AS answer',
}

const ofTransaction: Statements = {
  begin: 'BEGIN',
  try: 'SELECT pg_try_advisory_xact_lock($1) AS answer',
  wait: 'SELECT pg_advisory_xact_lock($1)',
  release: 'COMMIT',
}

async function ask(client: PoolClient, text: string, key: string): Promise<boolean> {
  // Statements with a parameter are prepared, under their text.
  const query = text.includes('$1') ? { name: text, text, values: [key] } : { text }
  const { rows } = await client.query(query)
  return rows[0]?.answer !== false
}

/** A connection belongs to the lock for as long as it is held. */
function locksOn(pool: Pool, { begin, try: tried, wait, release }: Statements): Session {
  const acquire = async (text: string, key: string): Promise<() => Promise<void>> => {
    const client = await pool.connect()
    if (begin !== undefined) await ask(client, begin, key)
    if (!(await ask(client, text, key))) throw new Error(`${key} is held`)
    return async () => {
      await ask(client, release, key)
      client.release()
    }
  }
  return {
    cycle: (name) => {
      const key = keyOf(name)
      return async () => (await acquire(tried, key))()
    },
    hold: (name) => acquire(wait, keyOf(name)),
    close: () => pool.end(),
  }
}

function advisory(id: string, name: string, statements: Statements): Contender {
  return {
    id,
    name,
    ours: false,
    mostWaiters: 100,
    open: async (url, connections) => locksOn(new Pool({ connectionString: url, max: connections }), statements),
  }
}

export const advisoryContenders: readonly Contender[] = [
  advisory('advisory-session', 'advisory lock of a session, by pg', ofSession),
  advisory('advisory-transaction', 'advisory lock of a transaction, by pg', ofTransaction),
]
