import { migrate, migrations, PostgresGuard, PostgresLeaseStore, type Transaction } from '@leasehold/postgres'
import { Pool } from 'pg'
import { describe, expect, it } from 'vitest'

/** Never connected. */
const pool = new Pool()
const tx: Transaction = () => Promise.reject(new Error('nothing is sent'))
const guard = new PostgresGuard()
const where = { id: 1 }
const fence = 'the fencing guard'

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['PostgresLeaseStore', 'shema', 'schema', (o: object) => new PostgresLeaseStore(pool, o)],
    ['migrate', 'tabel', 'table', (o: object) => migrate(pool, o)],
    ['migrations', 'tabel', 'table', (o: object) => migrations(o)],
    ['PostgresGuard', 'shema', 'schema', (o: object) => new PostgresGuard(o)],
    [fence, 'idlelimit', 'idleLimit', (o: object) => guard.transactUnderLease('job', 1n, tx, o)],
    [fence, 'colum', 'column', (o: object) => guard.transactRows('accounts', 1n, tx, { where, ...o })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})
