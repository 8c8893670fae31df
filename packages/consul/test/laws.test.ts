import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { onServer } from './support/law-subjects.js'

describeConsul('the laws on Consul', () => {
  let server: ConsulServer
  beforeAll(async () => {
    server = await ConsulServer.start()
  })
  afterAll(() => server.stop())

  const subject = onServer(() => server)
  describeStoreLaws(subject)
  describeLeaseLaws(leasesOver(subject))
})
