import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { freePort } from '@leasehold/testing/free-port'
import { afterAll, beforeAll } from 'vitest'
import { describeService } from '../support/describe-service.js'

describeConsul('on a Consul server:', () => {
  let server: ConsulServer

  beforeAll(async () => {
    const acl = { enabled: true, default_policy: 'deny', tokens: { master: 'right', agent: 'right' } }
    server = await ConsulServer.start({ config: { acl }, token: 'right' })
  })

  afterAll(() => server.stop())

  // Consul has no shorter ttl than 10 s.
  const durations = { HEARTBEAT_TIMEOUT: '10000' }
  describeService('consul', {
    variable: 'CONSUL_HTTP_ADDR',
    right: () => ({ ...durations, CONSUL_HTTP_ADDR: server.url, CONSUL_HTTP_TOKEN: 'right' }),
    down: async () => ({ ...durations, CONSUL_HTTP_ADDR: `127.0.0.1:${await freePort()}` }),
    wrongPassword: () => ({ ...durations, CONSUL_HTTP_ADDR: server.url, CONSUL_HTTP_TOKEN: 'wrong' }),
    refused: /Check the ACL token: it needs key:write/,
  })
})
