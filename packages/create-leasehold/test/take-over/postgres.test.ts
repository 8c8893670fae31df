import { describePostgres } from '@leasehold/testing/describe-postgres'
import { freePort } from '@leasehold/testing/free-port'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { afterAll, beforeAll } from 'vitest'
import { describeService } from '../support/describe-service.js'

describePostgres('on a PostgreSQL server:', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start({ password: 'right' })
  })

  afterAll(() => server.stop())

  describeService('postgres', {
    variable: 'DATABASE_URL',
    right: () => ({ DATABASE_URL: server.url }),
    down: async () => ({ DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/postgres` }),
    wrongPassword: () => ({ DATABASE_URL: server.url.replace(':right@', ':wrong@') }),
  })
})
