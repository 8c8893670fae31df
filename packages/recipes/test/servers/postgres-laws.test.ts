import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { afterAll, beforeAll } from 'vitest'
import { pool } from '../../../postgres/test/support/libraries.js'
import { storesOver } from '../../../postgres/test/support/store-subject.js'
import { describeAllRecipes } from '../support/all-recipes.js'

describePostgres('on a PostgreSQL server:', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start()
  })

  const stores = storesOver(pool, () => server)

  afterAll(async () => {
    await stores.end()
    await server.stop()
  })

  describeAllRecipes((recipe) => ({ ...recipe, store: stores }))
})
