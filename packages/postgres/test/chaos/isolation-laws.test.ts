import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { onServer } from '../support/law-subjects.js'

for (const isolation of ['repeatable read', 'serializable']) {
  describePostgres(`where transactions are ${isolation} by default:`, () => {
    let server: PostgresServer

    beforeAll(async () => {
      server = await PostgresServer.start({ settings: { default_transaction_isolation: isolation } })
    })

    afterAll(() => server?.stop())

    describeStoreLaws(onServer({ name: `postgres, ${isolation}`, server: () => server }))
  })
}
