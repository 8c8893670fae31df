import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { onServer } from './support/law-subjects.js'

describeConsul("the user's fetch, on", () => {
  let server: ConsulServer

  beforeAll(async () => {
    server = await ConsulServer.start()
  })

  afterAll(() => server.stop())

  describeStoreLaws(
    onServer(() => server, {
      name: 'fetch',
      cluster: (url) => ({ addresses: [url], fetch: (...args) => fetch(...args) }),
    }),
  )
})
