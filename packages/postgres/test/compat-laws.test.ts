import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { storeLaws } from '@leasehold/testkit'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { pool } from './support/libraries.js'
import { storesOver } from './support/store-subject.js'

/**
 * An advisory lock belongs to one session. So a lease with one cannot be passed on, no other store can raise its token or
 * repeat its claim, and after a break the lock is free with the next heartbeat of the holder. A second heartbeat after a
 * refused one frees the lease.
 */
const impossible = [
  'with a period of 0 frees the name at once',
  'repeated, also with the grant as it was before, succeeds and changes nothing',
  'a grant that expired does not come back with a late duplicate of its claim',
  'a broken grant does not come back with a late duplicate of its claim',
]
const laws = storeLaws.filter(({ needs, name }) => !needs.includes('change') && !impossible.includes(name))

describePostgres('one server, with advisory locks:', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start({ settings: { max_connections: 400 } })
  })

  const subject = storesOver(pool, () => server, { compat: 'pg-advisory-lock' })

  afterAll(async () => {
    await subject.end()
    await server.stop()
  })

  describeStoreLaws(subject, laws)
})
