import { describePgBouncer } from '@leasehold/testing/describe-postgres'
import { PgBouncer } from '@leasehold/testing/pg-bouncer'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { onServer } from '../support/law-subjects.js'

describePgBouncer('behind a PgBouncer, which gives connections to others after each transaction:', () => {
  let server: PostgresServer
  let bouncer: PgBouncer

  beforeAll(async () => {
    server = await PostgresServer.start()
    bouncer = await PgBouncer.start(server, { poolMode: 'transaction' })
  })

  afterAll(async () => {
    await bouncer?.stop()
    await server?.stop()
  })

  const subject = onServer({ name: 'postgres behind PgBouncer', server: () => server, way: () => bouncer })
  describeStoreLaws(subject)
  describeLeaseLaws(leasesOver(subject))
})
