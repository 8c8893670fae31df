import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { afterAll, beforeAll } from 'vitest'
import { onServer } from '../../../consul/test/support/law-subjects.js'
import { describeAllRecipes } from '../support/all-recipes.js'

describeConsul('on a Consul server:', () => {
  let server: ConsulServer

  beforeAll(async () => {
    server = await ConsulServer.start()
  })

  afterAll(() => server.stop())

  // A longer ttl gives longer time limits: dozens of contenders begin at the same time.
  const store = { ...onServer(() => server), ttl: 12_000 }
  describeAllRecipes((recipe) => ({ ...recipe, store }))
})
