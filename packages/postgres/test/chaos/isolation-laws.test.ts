import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { warmUp } from '../support/law-subjects.js'
import { type Library, pool } from '../support/libraries.js'
import { storesOver } from '../support/store-subject.js'

for (const isolation of ['repeatable read', 'serializable']) {
  describePostgres(`where transactions are ${isolation} by default:`, () => {
    let server: PostgresServer

    beforeAll(async () => {
      server = await PostgresServer.start({ settings: { default_transaction_isolation: isolation } })
      await warmUp(subject)
    })

    const isolated: Library = { ...pool, name: `a Pool of pg, ${isolation}` }
    const subject = storesOver(isolated, () => server)

    afterAll(async () => {
      await subject.end()
      await server?.stop()
    })

    describeStoreLaws(subject)
  })
}
