import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { pool, postgresJs, singleClient } from './support/libraries.js'
import { storesOver } from './support/store-subject.js'

describePostgres('one server:', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start({ settings: { max_connections: 400 } })
  })

  const subjects = [pool, postgresJs].map((library) => storesOver(library, () => server))
  // Its statements run one after the other, so that the laws of leases, which wait in parallel, would only measure that.
  const onOneConnection = storesOver(singleClient, () => server)

  afterAll(async () => {
    for (const { end } of [...subjects, onOneConnection]) await end()
    await server.stop()
  })

  for (const subject of subjects) {
    describeStoreLaws(subject)
    describeLeaseLaws(leasesOver(subject))
  }
  describeStoreLaws(onOneConnection)
})
