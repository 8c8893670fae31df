import { describePgBouncer } from '@leasehold/testing/describe-postgres'
import { PgBouncer } from '@leasehold/testing/pg-bouncer'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { warmUp } from '../support/law-subjects.js'
import { type Library, pool } from '../support/libraries.js'
import { storesOver } from '../support/store-subject.js'

for (const poolMode of ['transaction', 'statement'] as const) {
  describePgBouncer(`behind a PgBouncer, which gives connections to others after each ${poolMode}:`, () => {
    let server: PostgresServer
    let bouncer: PgBouncer

    beforeAll(async () => {
      server = await PostgresServer.start()
      bouncer = await PgBouncer.start(server, { poolMode, poolSize: 8 })
      await warmUp(subject)
    })

    const bounced: Library = { name: 'a Pool of pg behind PgBouncer', open: () => pool.open(bouncer.url) }
    const subject = storesOver(bounced, () => server)

    afterAll(async () => {
      await subject.end()
      await bouncer?.stop()
      await server?.stop()
    })

    describeStoreLaws(subject)
    describeLeaseLaws(leasesOver(subject))
  })
}
