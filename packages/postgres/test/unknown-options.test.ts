import { fence, fenceRows, guard, migrate, migrations, PostgresLeaseStore, type Transaction } from '@leasehold/postgres'
import { Pool } from 'pg'
import { describe, expect, it } from 'vitest'

/** Never connected. */
const pool = new Pool()
const tx: Transaction = () => Promise.reject(new Error('nothing is sent'))
const grant = { name: 'job', fencingToken: 1n }
const where = { id: 1 }

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['PostgresLeaseStore', 'shema', 'schema', (o: object) => new PostgresLeaseStore(pool, o)],
    ['migrate', 'tabel', 'table', (o: object) => migrate(pool, o)],
    ['migrations', 'tabel', 'table', (o: object) => migrations(o)],
    ['guard', 'idlelimit', 'idleLimit', (o: object) => guard(tx, grant, o)],
    ['fence', 'shema', 'schema', (o: object) => fence(tx, 'accounts', 1n, o)],
    ['fenceRows', 'colum', 'column', (o: object) => fenceRows(tx, 'accounts', 1n, { where, ...o })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})
