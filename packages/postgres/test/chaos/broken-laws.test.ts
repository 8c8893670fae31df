import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { behindProxies, onServerThatRestarts, partitionLaws, restartLaws } from '../support/law-subjects.js'

describePostgres('stores that are cut off, and servers that begin again:', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start({ settings: { max_connections: 400 } })
  })

  afterAll(() => server?.stop())

  describeStoreLaws(
    behindProxies(() => server),
    partitionLaws,
  )
  describeStoreLaws(onServerThatRestarts, restartLaws)
})
