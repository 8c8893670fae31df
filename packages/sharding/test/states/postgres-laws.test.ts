import { migrateEntities, postgresState } from '@leasehold/sharding/postgres'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { describeStateLaws } from './describe-state-laws.js'

describePostgres('in PostgreSQL', () => {
  let server: PostgresServer
  let pools: Pool[]

  beforeAll(async () => {
    server = await PostgresServer.start()
    pools = [1, 2].map(() => new Pool({ connectionString: server.url, max: 5 }))
    for (const pool of pools) pool.on('error', () => {})
    await migrateEntities(pools[0] as Pool)
  })

  afterAll(async () => {
    for (const pool of pools) await pool.end()
    await server.stop()
  })

  describeStateLaws({
    name: 'postgresState',
    start: () => {
      let count = 0
      return {
        open: async () => {
          count += 1
          // A law has the tables for itself.
          if (count === 1) await (pools[0] as Pool).query('truncate leasehold.leases_entities, leasehold.leases_fences')
          return postgresState(pools[count % 2] as Pool)
        },
      }
    },
  })
})
