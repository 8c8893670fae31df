import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { pool, postgresJs } from './support/libraries.js'
import { storesOver } from './support/store-subject.js'

describePostgres('one server:', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start({ settings: { max_connections: 400 } })
  })

  const subjects = [pool, postgresJs].map((library) => storesOver(library, () => server))

  afterAll(async () => {
    for (const { end } of subjects) await end()
    await server.stop()
  })

  for (const subject of subjects) {
    describeStoreLaws(subject)
    describeLeaseLaws(leasesOver(subject))
  }
})
