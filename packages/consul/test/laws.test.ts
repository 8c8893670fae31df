import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { behindProxies, onServer, onServerThatRestarts, partitionLaws, restartLaws } from './support/law-subjects.js'

describeConsul('one server:', () => {
  let server: ConsulServer

  beforeAll(async () => {
    server = await ConsulServer.start()
  })

  afterAll(() => server.stop())

  describeStoreLaws(onServer(() => server))
  const proxied = behindProxies(() => server)
  describeStoreLaws(proxied, partitionLaws)
  // A longer ttl gives longer time limits: dozens of contenders begin at the same time.
  describeLeaseLaws(leasesOver({ ...proxied, ttl: 12_000 }))
})

describeConsul('servers of their own:', () => {
  describeStoreLaws(onServerThatRestarts, restartLaws)
})
