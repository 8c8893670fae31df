import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { freePort } from '@leasehold/testing/free-port'
import { afterAll, beforeAll } from 'vitest'
import { describeService } from '../support/describe-service.js'

describeEtcd('on an etcd server:', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
  })

  afterAll(() => server.stop())

  describeService('etcd', {
    variable: 'ETCD_ENDPOINTS',
    right: () => ({ ETCD_ENDPOINTS: server.url }),
    down: async () => ({ ETCD_ENDPOINTS: `http://127.0.0.1:${await freePort()}` }),
    // This server has no users.
    wrongPassword: () => ({ ETCD_ENDPOINTS: server.url, ETCD_USERNAME: 'anna', ETCD_PASSWORD: 'wrong' }),
    refused: /authentication is not enabled|user/i,
  })
})
