import { describeMysql } from '@leasehold/testing/describe-mysql'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { callbackPool, mariadbPool, pool, singleConnection } from './support/libraries.js'
import { storesOver } from './support/store-subject.js'

describeMysql('one server:', (kind) => {
  let server: MysqlServer

  beforeAll(async () => {
    server = await MysqlServer.start(kind)
  })

  // A library does nearly the same with both servers: each library is tried with one of them.
  const [usual, other] = kind === 'mysql' ? [pool, callbackPool] : [mariadbPool, singleConnection]
  const subject = storesOver(usual, () => server)
  // The statements of a single connection run one after the other, and the laws of leases, which wait in parallel, would only
  // measure that.
  const storesOnly = storesOver(other, () => server)

  afterAll(async () => {
    await subject.end()
    await storesOnly.end()
    await server.stop()
  })

  describeStoreLaws(subject)
  describeLeaseLaws(leasesOver(subject))
  describeStoreLaws(storesOnly)
})
