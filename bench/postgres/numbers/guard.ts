import { AbortableCall } from '@leasehold/core/store'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { Pool, type PoolClient } from 'pg'
import type { NumberReport } from '../../support/benchmark.js'
import { median } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'

const ROUNDS = 15
/** Of one kind of transaction in one round, in milliseconds. */
const WINDOW = 300
const TTL = 300_000

/** A statement of a transaction, prepared under its text. */
interface Step {
  readonly text: string
  readonly values: readonly unknown[]
}

const WRITE: Step = { text: 'UPDATE account SET balance = balance + 1 WHERE id = $1', values: [1] }

async function transactionsASecond(client: PoolClient, steps: readonly Step[]): Promise<number> {
  const start = performance.now()
  let count = 0
  while (performance.now() - start < WINDOW) {
    await client.query('BEGIN')
    for (const { text, values } of steps) await client.query({ name: text.slice(0, 60), text, values: [...values] })
    await client.query('COMMIT')
    count += 1
  }
  return count / ((performance.now() - start) / 1_000)
}

export async function reportGuard(url: string): Promise<NumberReport> {
  const pool = new Pool({ connectionString: url })
  const store = new PostgresLeaseStore(pool)
  await pool.query('CREATE TABLE IF NOT EXISTS account (id int PRIMARY KEY, balance bigint, fencing_token bigint)')
  await pool.query('INSERT INTO account VALUES (1, 0, 0) ON CONFLICT DO NOTHING')
  const request = { name: 'guarded', owner: 'bench', grantId: 'guarded', ttl: TTL }
  const outcome = await store.acquire(request, new AbortableCall())
  if (!outcome.granted) throw new Error('the name of the benchmark is held')
  const token = String(outcome.grant.fencingToken)
  const guard: Step = { text: 'SELECT leasehold.leases_guard($1, $2)', values: ['guarded', token] }
  const fence: Step = { text: 'SELECT leasehold.leases_fence($1, $2)', values: ['account 1', token] }
  const rows: Step = {
    text: `SELECT leasehold.leases_fence_rows('account', $1, '{"id": 1}')`,
    values: [token],
  }
  const check: Step = { text: 'SELECT 1 FROM account WHERE id = $1', values: [1] }
  const kinds = [
    { name: 'the write alone', steps: [WRITE] },
    { name: 'a query for one row, and the write', steps: [check, WRITE] },
    { name: '`leases_guard`, and the write', steps: [guard, WRITE] },
    { name: '`leases_fence`, and the write', steps: [fence, WRITE] },
    { name: '`leases_fence_rows`, and the write', steps: [rows, WRITE] },
  ]
  const client = await pool.connect()
  const rates = kinds.map(() => [] as number[])
  // The first round is not counted: it plans the statements.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [place, { steps }] of kinds.entries()) {
      const rate = await transactionsASecond(client, steps)
      if (round > 0) rates[place]?.push(rate)
    }
  }
  client.release()
  await store.close()
  await pool.end()
  const alone = median(rates[0] ?? [])
  return {
    title: 'Cost of the guard in a transaction',
    body: [
      'Transactions a second on one connection, each with `BEGIN`, the statements and `COMMIT`; the kinds take turns, median of',
      `${ROUNDS} rounds of ${WINDOW} ms. The second row shows the cost of a round trip alone. The last column is the time that the`,
      'statement before the write adds.',
      '',
      table(
        'transaction | transactions a second | µs a transaction | µs more than the write alone',
        kinds.map(({ name }, place) => {
          const rate = median(rates[place] ?? [])
          return [name, shown(rate), shown(1e6 / rate), shown(1e6 / rate - 1e6 / alone)]
        }),
      ),
    ].join('\n'),
  }
}
