import { MysqlGuard, MysqlLeaseStore, migrate, migrations } from '@leasehold/mysql'
import { createPool } from 'mysql2/promise'
import { describe, expect, it } from 'vitest'

// It connects when it is first used.
const pool = createPool({ host: '127.0.0.1', port: 1 })

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['MysqlLeaseStore', 'tabel', 'table', (o: object) => new MysqlLeaseStore(pool, o)],
    ['MysqlGuard', 'databse', 'database', (o: object) => new MysqlGuard(o)],
    ['migrate', 'tables', 'table', (o: object) => migrate(pool, o)],
    ['migrations', 'tables', 'table', (o: object) => migrations(o)],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 'x' }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})
