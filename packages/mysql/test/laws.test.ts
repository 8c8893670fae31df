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

  const subjects = [pool, mariadbPool].map((library) => storesOver(library, () => server))
  // Its statements run one after the other, so that the laws of leases, which wait in parallel, would only measure that.
  const others = [callbackPool, singleConnection].map((library) => storesOver(library, () => server))

  afterAll(async () => {
    for (const { end } of [...subjects, ...others]) await end()
    await server.stop()
  })

  for (const subject of subjects) describeStoreLaws(subject)
  for (const subject of subjects.slice(0, 1)) describeLeaseLaws(leasesOver(subject))
  for (const subject of others) describeStoreLaws(subject)
})
